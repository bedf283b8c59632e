// Bugs of settles, turns, tallies and the dead: how a run ends.
import type { Mutant } from './mutant.ts'

export const settleMutants: Mutant[] = [
  {
    name: 'done-drops-after',
    file: 'src/pool/settle.ts',
    find: 'if (entry.after !== null) candidates.push({ ...entry.after, dueAt: Math.max(from, entry.after.dueAt) })',
    replace: `if (entry.after !== null && rest > 0)
    candidates.push({ ...entry.after, dueAt: Math.max(from, entry.after.dueAt) })`,
    breaks: 'a run that is done takes the run after it along',
    rule: 'S4',
    caughtBy: { seeds: 50, breaking: ['[P1]'] },
  },
  {
    name: 'redrive-by-an-earlier-death',
    file: 'src/stores/memory/dead.ts',
    find: "if (entry?.state !== 'dead' || newest !== found) return false",
    replace: "if (entry?.state !== 'dead' || newest === undefined) return false",
    breaks: 'an entry is redriven by the record of a death that it has survived',
    rule: 'S10',
    caughtBy: {
      file: 'test/contract/memory.test.ts',
      test: '[S10] an entry that has died again is redriven by its last death only',
    },
  },
  {
    name: 'redrive-keeps-attempts',
    file: 'src/pool/settle.ts',
    find: "return { ...entry, next, turn: newTurn(), attempt: 0, crashes: 0, state: 'live' }",
    replace: "return { ...entry, next, turn: newTurn(), crashes: 0, state: 'live' }",
    breaks: 'a dead entry that is redriven is given up at its first failure',
    rule: 'S10',
    caughtBy: { seeds: 100, breaking: ['[S5]'] },
  },
  {
    name: 'settle-accepts-stale-turn',
    file: 'src/pool/entry.ts',
    find: "return entry.turn === turn && entry.state === 'live'",
    replace: "return entry.turn >= turn && entry.state === 'live'",
    breaks: 'a settle with an older turn of the same key is taken for the current run',
    rule: 'S1',
    caughtBy: { seeds: 100, breaking: ['[P3]'] },
  },
  {
    name: 'settle-due-in-the-past',
    file: 'src/pool/settle.ts',
    find: 'if (entry.after !== null) candidates.push({ ...entry.after, dueAt: Math.max(from, entry.after.dueAt) })',
    replace: 'if (entry.after !== null) candidates.push({ ...entry.after, dueAt: entry.after.dueAt })',
    breaks: 'a run after, promoted late, keeps a dueAt that lies behind every cursor',
    rule: 'S9',
    caughtBy: {
      file: 'test/contract/memory.test.ts',
      test: '[S9] a run after it that fell due meanwhile is due now, never before',
    },
  },
  {
    name: 'settle-ignores-grown-tally',
    file: 'src/pool/settle.ts',
    find: 'const rest = entry.next.tally - seen',
    replace: 'const rest = Math.min(0, entry.next.tally - seen)',
    breaks: 'a settle forgets the puts that came while its run was under way',
    rule: 'S3',
    caughtBy: { seeds: 100, breaking: ['[P1]'] },
  },
  {
    name: 'settle-keeps-crashes',
    file: 'src/pool/settle.ts',
    find: 'const fresh = { turn: newTurn(), attempt: 0, crashes: 0, failing: false, lastError: null }',
    replace: 'const fresh = { turn: newTurn(), attempt: 0, failing: false, lastError: null }',
    breaks: 'a run that went well still counts as one that may have crashed',
    rule: 'X42',
    caughtBy: {
      file: 'test/contract/memory.test.ts',
      test: '[X42] a settle with again takes the mark off',
    },
  },
  {
    name: 'settle-keeps-seen-payloads',
    file: 'src/pool/payloads.ts',
    find: "if (before.next.tally > seen || before.after === null) return 'seen are gone'",
    replace: "if (before.next.tally > seen || before.after === null) return 'kept'",
    breaks: 'what a run saw of the payloads is seen again by the next',
    rule: 'M15',
    caughtBy: {
      file: 'test/contract/memory.test.ts',
      test: '[M14] a run sees the payloads of all its puts in their order, and those that came later at its next run',
    },
  },
  {
    name: 'settle-reuses-turn',
    file: 'src/pool/settle.ts',
    find: 'const fresh = { turn: newTurn(), attempt: 0, crashes: 0, failing: false, lastError: null }',
    replace:
      'const fresh = { turn: Math.min(entry.turn, newTurn()), attempt: 0, crashes: 0, failing: false, lastError: null }',
    breaks: 'a settled entry goes on with the turn it had, so a repeated settle counts again',
    rule: 'P3',
    caughtBy: { seeds: 100, breaking: ['[P3]'] },
  },
  {
    name: 'settle-without-rest',
    file: 'src/pool/settle.ts',
    find: 'const from = now + restMs',
    replace: 'const from = Math.max(now, 0 * restMs)',
    breaks: 'what was put during a run of a throttled pool runs at once',
    rule: 'M11',
    caughtBy: {
      file: 'test/contract/memory.test.ts',
      test: '[M11] what was put while a run was under way, waits after it, or was asked for by it, rests too',
    },
  },
]
