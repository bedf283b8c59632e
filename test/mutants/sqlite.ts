// Bugs of the SQLite store: its journal, its counters, its syncs, and what other processes write.
import type { Mutant } from './mutant.ts'

export const sqliteMutants: Mutant[] = [
  {
    name: 'answer-before-commit',
    file: 'src/stores/sqlite/session.ts',
    find: "if (hasChanged && works.some(isSeen)) this.#parts.database.statement('count_commit').run()",
    replace: `if (hasChanged && works.some(isSeen)) this.#parts.database.statement('count_commit').run()
      works.forEach((work, index) => work.resolve(answers[index]))`,
    breaks: 'a write is answered before its transaction is on the disk: 202 before commit',
    rule: 'R1',
    caughtBy: {
      file: 'test/unit/server/failed-commit.test.ts',
      test: '[R1] a post whose commit fails is not answered 202, and its tick is not there',
      unreached: 'it is a file: the memory store has no commit',
    },
  },
  {
    name: 'fence-not-checked-on-move',
    file: 'src/stores/sqlite/mover.ts',
    find: 'const { held, refused } = this.#parts.fences.look(poolResource(name), claim)',
    replace: `const { refused } = this.#parts.fences.look(poolResource(name), claim)
    const held = claim.held.map(({ partition }) => partition)`,
    breaks: 'a move looks at the fences before its transaction, and a raise comes in between',
    rule: 'F4',
    caughtBy: {
      file: 'test/unit/stores/sqlite/roster.test.ts',
      test: '[F4] a move that looked before a raise, and writes after it, is refused',
    },
  },
  {
    name: 'fence-not-checked-on-settle',
    file: 'src/stores/sqlite/entries.ts',
    find: "if (!held.has(entry.partition)) return { result: 'refused', nextDueAt: null }",
    replace: "if (held.size > 0 && !held.has(entry.partition)) return { result: 'refused', nextDueAt: null }",
    breaks: 'a run is settled by one who no longer has its partition',
    rule: 'F2',
    caughtBy: {
      file: 'test/contract/sqlite.test.ts',
      test: '[F2] [P5] a settle of an earlier epoch, of another owner, or without a fence changes nothing',
    },
  },
  {
    name: 'fingerprint-not-checked',
    file: 'src/stores/sqlite/put-batch.ts',
    find: "if (kept['fingerprint'] !== repeat.fingerprint) return { kind: 'mismatch' }",
    replace: '',
    breaks: 'another request with a known id is answered with the first one’s answers',
    rule: 'R3',
    caughtBy: {
      file: 'test/contract/sqlite.test.ts',
      test: '[R3] the same id with another fingerprint is a mismatch and does nothing',
    },
  },
  {
    name: 'foreign-moves-not-followed',
    file: 'src/stores/sqlite/journal.ts',
    find: 'if (byte === segment.bits[index]) continue',
    replace: 'if (byte === segment.bits[index] || index >= 0) continue',
    breaks: 'what another process has moved out of a known segment stays in memory and moves again',
    rule: 'J3',
    caughtBy: {
      file: 'test/contract/sqlite.test.ts',
      test: '[W2] each tick is moved once by two openings, and offsets have no gap',
    },
  },
  {
    name: 'foreign-raise-not-followed',
    file: 'src/stores/sqlite/fences.ts',
    find: 'if (last === this.#last) return',
    replace: 'if (last === this.#last || this.#last > 0) return',
    breaks: 'a fence that another process has raised is not known here',
    rule: 'F4',
    caughtBy: {
      file: 'test/unit/stores/sqlite/roster.test.ts',
      test: '[F4] a raise of one process refuses the next write of another, which has read under the earlier one',
    },
  },
  {
    name: 'gap-skipped-silently',
    file: 'src/stores/sqlite/log.ts',
    find: 'refuseGone(name, offset, { partition, oldest, head: next })',
    replace: 'refuseGone(name, Math.max(offset, oldest), { partition, oldest, head: next })',
    breaks: 'a read below the oldest event skips to it instead of being refused',
    rule: 'L5',
    caughtBy: {
      file: 'test/contract/sqlite.test.ts',
      test: '[L5] a read below the oldest event is refused, never skipped over',
    },
  },
  {
    name: 'gone-bit-not-written',
    file: 'src/stores/sqlite/journal.ts',
    find: "this.#database.statement('save_gone').run(firstTurn, change, Uint8Array.from(bits))",
    replace:
      "this.#database.statement('save_gone').run(firstTurn, change, Uint8Array.from(bits.map(() => 0)))",
    breaks: 'a tick that moved is not marked in its segment, so it fires again after a restart',
    rule: 'J1',
    caughtBy: {
      file: 'test/unit/stores/sqlite/commit.test.ts',
      test: '[J1] a tick that moved out of a segment with others does not move again after close and open',
    },
  },
  {
    name: 'move-forgets-fired-slot',
    file: 'src/stores/sqlite/fired-slots.ts',
    find: `if (slot === null || this.#rememberMs === 0) return
    this.#database.statement('add_fired').run(this.#pool, key, slot, now + this.#rememberMs)`,
    replace: `if (slot !== null || this.#rememberMs === 0) return
    this.#database.statement('add_fired').run(this.#pool, key, slot, now + this.#rememberMs)`,
    breaks: 'a fired slot is not remembered, so a repeated post fires again',
    rule: 'T5',
    caughtBy: {
      file: 'test/contract/sqlite.test.ts',
      test: '[T5] a fired slot that is remembered keeps repeats out, until it is forgotten',
    },
  },
  {
    name: 'offset-counter-not-saved',
    file: 'src/stores/sqlite/topics.ts',
    find: `for (const [bounds, { topic, partition }] of this.#changed) {
      this.#database.statement('save_head').run(bounds.oldest, bounds.next, topic, partition)`,
    replace: `for (const [bounds, { topic, partition, before }] of this.#changed) {
      this.#database.statement('save_head').run(bounds.oldest, before.next, topic, partition)`,
    breaks: 'the head of a partition is not written, so offsets are not contiguous after a restart',
    rule: 'W1',
    caughtBy: {
      file: 'test/contract/sqlite.test.ts',
      test: '[W1] events, offsets and what retention removed are the same after close and open',
    },
  },
  {
    name: 'put-answered-before-sync',
    file: 'src/stores/sqlite/work.ts',
    find: "return kind === 'beat' || kind === 'move'",
    replace: "return kind === 'beat' || kind === 'move' || kind === 'put'",
    breaks: 'a put is answered when it is committed, and not yet on the disk',
    rule: 'J8',
    caughtBy: {
      file: 'test/unit/stores/sqlite/sync.test.ts',
      test: '[J8] a put is answered when a sync has ended that began after its commit',
    },
  },
  {
    name: 'rollback-keeps-put',
    file: 'src/stores/sqlite/journal.ts',
    find: 'for (const segment of this.#added) this.#discard(segment)',
    replace: '',
    breaks: 'a put whose commit failed stays in memory, so its repeat is answered kept and lost',
    rule: 'J2',
    caughtBy: {
      file: 'test/unit/stores/sqlite/journal.test.ts',
      test: '[J2] forgets a put whose commit failed, and accepts it afterwards',
    },
  },
  {
    name: 'rollback-leaves-gap',
    file: 'src/stores/sqlite/topics.ts',
    find: 'for (const [bounds, { before }] of this.#changed) Object.assign(bounds, before)',
    replace: '',
    breaks: 'a failed append keeps the offsets it had taken',
    rule: 'L2',
    caughtBy: {
      file: 'test/unit/stores/sqlite/commit.test.ts',
      test: '[L2] an append whose commit failed leaves no gap',
    },
  },
  {
    name: 'sqlite-set-back-keeps-heartbeats',
    file: 'src/stores/sqlite/roster.sql',
    find: 'update member set heartbeat_at = ? where heartbeat_at > ?',
    replace: 'update member set heartbeat_at = ? where heartbeat_at < ? and false',
    breaks: 'in a file, who died before the clock was set back is judged when it has come so far again',
    rule: 'K6',
    caughtBy: {
      file: 'test/contract/sqlite.test.ts',
      test: '[K6] a member that is dead is judged one lease after the clock was set back',
    },
  },
  {
    name: 'turn-counter-not-saved',
    file: 'src/stores/sqlite/turn-counter.ts',
    find: "if (this.#next !== this.#saved) this.#database.statement('save_next_turn').run(this.#next)",
    replace: "if (this.#next < this.#saved) this.#database.statement('save_next_turn').run(this.#next)",
    breaks: 'the counter of turns is not written, so turns are given again after a restart',
    rule: 'W1',
    caughtBy: {
      file: 'test/contract/sqlite.test.ts',
      test: '[W1] a turn is not reused after close and open, even when nothing was left',
      unreached: 'it is a file: the memory store is not opened again',
    },
  },
]
