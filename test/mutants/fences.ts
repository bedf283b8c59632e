// Bugs of fences, epochs and raises: who may write to a partition.
import type { Mutant } from './mutant.ts'

export const fenceMutants: Mutant[] = [
  {
    name: 'allotments-without-compare',
    file: 'src/stores/memory/roster.ts',
    find: 'return current.owner === from.owner && current.epoch === from.epoch && current.next === from.next',
    replace: 'return current.epoch >= 0 && from.epoch >= 0',
    breaks: 'a change of an allotment that comes late overwrites what was decided since',
    rule: 'A2',
    caughtBy: { seeds: 400, breaking: ['[A2]'] },
  },
  {
    name: 'epoch-not-compared',
    file: 'src/stores/memory/fences.ts',
    find: 'return fence?.epoch === epoch && fence.owner === owner',
    replace: 'return fence !== undefined && fence.epoch >= epoch && fence.owner === owner',
    breaks: 'a write under an epoch that its own owner has left behind lands',
    rule: 'F2',
    caughtBy: {
      file: 'test/contract/memory.test.ts',
      test: '[F2] [P5] a settle of an earlier epoch, of another owner, or without a fence changes nothing',
      unreached: 'such a write is so seldom late that a thousand seeds may not meet it',
    },
  },
  {
    name: 'fence-by-time',
    file: 'src/stores/memory/fences.ts',
    find: 'return fence?.epoch === epoch && fence.owner === owner',
    replace: "return fence !== undefined && epoch > 0 && owner !== ''",
    breaks: 'a write is held back by the age of its member’s trust alone, and lands however late it comes',
    rule: 'F2',
    caughtBy: { seeds: 400, breaking: ['[F2]'] },
  },
  {
    name: 'gone-turn-costs-the-fence',
    file: 'src/stores/memory/pools.ts',
    find: 'const isThere = entry !== undefined && holdsTurn(entry, settlement.turn)',
    replace: 'const isThere = entry !== undefined',
    breaks: 'a settle of a run that is gone costs its member the partition in which the key stands now',
    rule: 'S1',
    caughtBy: {
      file: 'test/contract/memory.test.ts',
      test: '[S1] a turn that is gone is no lost fence, though its key stands in another partition now',
    },
  },
  {
    name: 'grant-keeps-the-epoch',
    file: 'src/stores/memory/roster.ts',
    find: 'const change = { from: { owner, epoch, next }, to: { owner: to, epoch: epoch + 1, next: null } }',
    replace: 'const change = { from: { owner, epoch, next }, to: { owner: to, epoch, next: null } }',
    breaks: 'a partition is handed over under the epoch of its former owner',
    rule: 'A2',
    caughtBy: { seeds: 50, breaking: ['[A2]'] },
  },
  {
    name: 'mark-without-fence',
    file: 'src/pool/mark.ts',
    find: "if (!held.has(entry.partition)) return { entry: null, answer: { result: 'refused', nextDueAt: null } }",
    replace: "if (held.size < 0) return { entry: null, answer: { result: 'refused', nextDueAt: null } }",
    breaks: 'an owner that was replaced marks runs of the next one',
    rule: 'X41',
    caughtBy: {
      file: 'test/contract/memory.test.ts',
      test: '[X41] [F2] [P5] a mark under a claim that is not the fence changes nothing, and says so',
    },
  },
  {
    name: 'memory-settle-not-fenced',
    file: 'src/stores/memory/pools.ts',
    find: `const held = this.#fences.held(poolResource(name), claim)
    const settleHeld = (settlement: Settlement): SettleAnswer => {`,
    replace: `const held = new Set(claim.held.map(({ partition }) => partition))
    const settleHeld = (settlement: Settlement): SettleAnswer => {`,
    breaks: 'a run is settled by one who no longer has its partition',
    rule: 'P5',
    caughtBy: { seeds: 100, breaking: ['[P5]'] },
  },
  {
    name: 'old-refusal-costs-new-epoch',
    file: 'src/roster/ownership.ts',
    find: "if (partitions.includes(partition) && part?.epoch === epoch && part.phase === 'held')",
    replace: 'if (partitions.includes(partition) && part !== undefined)',
    breaks: 'a refusal under an older epoch costs what is held by now',
    rule: 'H1',
    caughtBy: {
      file: 'test/unit/roster/ownership.test.ts',
      test: '[H1] V5: an answer to a write of an older epoch says nothing of what is held by now',
    },
  },
  {
    name: 'raise-accepts-equal-epoch-of-another',
    file: 'src/fence.ts',
    find: 'if (fence.epoch >= claim.epoch) return { raised: false, fence }',
    replace: 'if (fence.epoch > claim.epoch) return { raised: false, fence }',
    breaks: 'two members that were given one epoch both raise the fence to it',
    rule: 'F1',
    caughtBy: {
      file: 'test/contract/sqlite.test.ts',
      test: '[F1] of many raises to one epoch at once, one succeeds',
    },
  },
  {
    name: 'raise-lowers-the-fence',
    file: 'src/fence.ts',
    find: 'if (fence.epoch >= claim.epoch) return { raised: false, fence }',
    replace: 'if (fence.epoch === claim.epoch) return { raised: false, fence }',
    breaks: 'a raise that comes late takes a partition back',
    rule: 'F1',
    caughtBy: { seeds: 400, breaking: ['[F1]'] },
  },
  {
    name: 'raise-skipped',
    file: 'src/roster/ownership.ts',
    find: "phase: next === null ? 'raising' : 'leaving',",
    replace: "phase: next === null ? 'held' : 'leaving',",
    breaks: 'a member works on what it was given before it has raised the fence',
    rule: 'H1',
    caughtBy: { seeds: 50, breaking: ['[H1]'] },
  },
  {
    name: 'runs-count-whatever-their-epoch',
    file: 'src/roster/ownership.ts',
    find: `endRun({ partition, epoch }: Held): void {
    const epochs = this.#runs.get(partition)`,
    replace: `endRun({ partition }: Held): void {
    const epochs = this.#runs.get(partition)
    const epoch = this.#held.get(partition)?.epoch ?? 0`,
    breaks: 'the end of a run of an earlier epoch counts as the end of one of this',
    rule: 'X18',
    caughtBy: {
      file: 'test/unit/pool/worker-epochs.test.ts',
      test: '[X18] the end of a run of an earlier epoch does not count as the end of one of this',
    },
  },
]
