// Bugs of puts, merges, cancels and reschedules: what an entry becomes.
import type { Mutant } from './mutant.ts'

export const putMutants: Mutant[] = [
  {
    name: 'cancel-is-not-sent',
    file: 'src/pool/pool.ts',
    find: 'const answer = await this.#pass(() => this.#parts.store.entries.cancel(this.name, name))',
    replace:
      'const answer = await this.#pass(async () => ({ cancelled: name.key.length > 0 ? 1 : 0, due: 0 }))',
    breaks: 'a cancel is answered, and never sent to the store',
    rule: 'C1',
    caughtBy: { seeds: 20, breaking: ['[C1]'] },
  },
  {
    name: 'cancel-of-one-slot',
    file: 'src/stores/memory/pools.ts',
    find: "answer[stateOf(entry, now) === 'due' ? 'due' : 'cancelled'] += 1",
    replace: `answer[stateOf(entry, now) === 'due' ? 'due' : 'cancelled'] += 1
      break`,
    breaks: 'a cancel of a key removes one of its slots',
    rule: 'C1',
    caughtBy: { seeds: 400, breaking: ['[P4]'] },
  },
  {
    name: 'debounce-without-end',
    file: 'src/pool/merge.ts',
    find: 'const dueAt = dueAtOf(put, since ?? context.now, context)',
    replace: 'const dueAt = dueAtOf(put, context.now, context)',
    breaks: 'the longest wait counts from each put, so that puts put a run off without end',
    rule: 'M10',
    caughtBy: {
      file: 'test/contract/memory.test.ts',
      test: '[M10] each put puts the run off, until the longest wait since the first is over; the next run counts anew',
    },
  },
  {
    name: 'earliest-is-the-latest',
    file: 'src/pool/merge.ts',
    find: 'return { ...run, dueAt: Math.min(run.dueAt, dueAt), tally: run.tally + 1, payload }',
    replace: 'return { ...run, dueAt: Math.max(run.dueAt, dueAt), tally: run.tally + 1, payload }',
    breaks: 'a later put puts off what was asked for earlier',
    rule: 'M4',
    caughtBy: { seeds: 50, breaking: ['[M4]'] },
  },
  {
    name: 'failed-put-is-answered',
    file: 'src/pool/pool.ts',
    find: 'const responses = await this.#parts.store.entries.put(this.name, requests)',
    replace: `const done = { result: 'created', dueAt: clock.now(), tally: 1 } as const
    const responses = await this.#parts.store.entries
      .put(this.name, requests)
      .catch(() =>
        requests.map(({ puts }): PutResponse => ({
          kind: 'answered',
          answers: puts.map(() => done),
          replayed: false,
        })),
      )`,
    breaks: 'a put that the store refused is answered as done',
    rule: 'R1',
    caughtBy: { seeds: 20, breaking: ['[R1]'] },
  },
  {
    name: 'keep-merges',
    file: 'src/pool/merge.ts',
    find: "if (context.mode === 'each' || put.onConflict === 'keep') return kept(existing)",
    replace: "if (context.mode === 'each') return kept(existing)",
    breaks: 'a put with keep joins the entry that it should leave alone',
    rule: 'M8',
    caughtBy: {
      file: 'test/contract/memory.test.ts',
      test: '[M8] a put, keep, later, on an entry that is waiting: kept',
    },
  },
  {
    name: 'put-due-in-the-past',
    file: 'src/pool/merge.ts',
    find: 'return Math.max(Math.min(askedAt(put, now), latest), now, restsUntil)',
    replace: 'return Math.max(Math.min(askedAt(put, now), latest), restsUntil)',
    breaks: 'a put with an at in the past writes it as dueAt',
    rule: 'M3',
    caughtBy: {
      file: 'test/contract/memory.test.ts',
      test: '[M3] a put in the far past is due now, and its slot keeps the time it was given',
    },
  },
  {
    name: 'put-in-a-transaction-dropped',
    file: 'src/pool/pool.ts',
    find: 'await this.#pass(() => arrivals.put(tx, this.name, puts))',
    replace: 'await this.#pass(() => arrivals.put(tx, this.name, puts.slice(1)))',
    breaks: 'a put in a transaction is accepted, and not written',
    rule: 'U2',
    caughtBy: { seeds: 20, breaking: ['[U2]'] },
  },
  {
    name: 'arrivals-fold-one-by-one',
    file: 'src/pool/fold.ts',
    find: "put.onConflict !== 'replace' || dueAt <= madeAt",
    replace: 'madeAt > 0',
    breaks: 'each arrival that has fallen due by its fold is a run, though a later one replaced it',
    rule: 'U6',
    caughtBy: {
      file: 'test/unit/lab/arrivals.test.ts',
      test: '[U6] a put that is due by the time of the fold is replaced by one that was made before it was due',
    },
  },
  {
    name: 'no-look-before-a-run-is-due',
    file: 'src/pool/folding.ts',
    find: 'if (at > now && at < now + FURTHEST_MS)',
    replace: 'if (at > now + FURTHEST_MS)',
    breaks: 'puts that postpone each other run once for each pulse',
    rule: 'U7',
    caughtBy: {
      file: 'test/unit/pool/folding.test.ts',
      test: '[U7] puts that postpone each other make one run, though their pulse is slower than they are due',
    },
  },
  {
    name: 'replace-calls-back-a-due-run',
    file: 'src/pool/merge.ts',
    find: "if (state === 'waiting') return mergeWaiting(existing, put, context)",
    replace:
      "if (state === 'waiting' || put.onConflict === 'replace') return mergeWaiting(existing, put, context)",
    breaks: 'a put that replaces puts off a run that is due',
    rule: 'M6',
    caughtBy: { seeds: 50, breaking: ['[M6]', '[M7]'] },
  },
  {
    name: 'replace-keeps-the-tally',
    file: 'src/pool/merge.ts',
    find: 'const fresh = { dueAt, tally: 1, payload: put.payload ?? null }',
    replace: 'const fresh = { dueAt, tally: (run?.tally ?? 0) + 1, payload: put.payload ?? null }',
    breaks: 'a put that replaces counts those it threw away',
    rule: 'M5',
    caughtBy: { seeds: 50, breaking: ['[M5]'] },
  },
  {
    name: 'replace-keeps-turn',
    file: 'src/pool/merge.ts',
    find: 'const merged = { ...entry, next, turn: replaces ? context.newTurn() : entry.turn, putAt: context.now }',
    replace: 'const merged = { ...entry, next, turn: entry.turn, putAt: context.now }',
    breaks: 'a replaced run keeps its turn, so the settle of the old run consumes the new put',
    rule: 'M5',
    caughtBy: {
      file: 'test/contract/sqlite.test.ts',
      test: '[S1] a run that was replaced as it fell due may end, and its settle finds no turn',
    },
  },
  {
    name: 'reschedule-into-the-past',
    file: 'src/pool/reschedule.ts',
    find: `function moveNext(entry: Entry, at: number, { now, restsUntil, newTurn }: RescheduleContext): Rescheduled {
  const next = { ...entry.next, dueAt: Math.max(at, now, restsUntil) }`,
    replace: `function moveNext(entry: Entry, at: number, { newTurn }: RescheduleContext): Rescheduled {
  const next = { ...entry.next, dueAt: at }`,
    breaks: 'a reschedule whose time has passed on its way plans in the past',
    rule: 'V8',
    caughtBy: { seeds: 400, breaking: ['[C2]'] },
  },
  {
    name: 'reschedule-of-a-due-tick',
    file: 'src/pool/reschedule.ts',
    find: "if (stateOf(existing, context.now) === 'due' || context.fired) return { kind: 'due' }",
    replace: "if (stateOf(existing, context.now - 60_000) === 'due' || context.fired) return { kind: 'due' }",
    breaks: 'a tick that is due is put off',
    rule: 'C2',
    caughtBy: { seeds: 50, breaking: ['[P1]'] },
  },
  {
    name: 'retry-without-its-id',
    file: 'src/stores/memory/pools.ts',
    find: 'if (repeat !== null && kept !== undefined && kept.until > now) {',
    replace: 'if (repeat !== null && kept !== undefined && kept.until < now) {',
    breaks: 'a put that is made again after its answer was lost counts twice',
    rule: 'R2',
    caughtBy: { seeds: 50, breaking: ['[R2]'] },
  },
]
