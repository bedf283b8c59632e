// Bugs of crash marks: which runs are marked after a takeover, and run alone.
import type { Mutant } from './mutant.ts'

export const crashMarkMutants: Mutant[] = [
  {
    name: 'crashed-run-started-again',
    file: 'src/pool/suspicion.ts',
    find: 'const MOST = 3',
    replace: 'const MOST = 4',
    breaks: 'a run that was in three crashes is started once more',
    rule: 'X46',
    caughtBy: { seeds: 100, breaking: ['[X46]'] },
  },
  {
    name: 'hand-over-leaves-suspects',
    file: 'src/roster/hand-over.ts',
    find: 'if (ownership.concurrency === 0 || held.length === 0) return',
    replace: 'if (ownership.concurrency >= 0 || held.length === 0) return',
    breaks: 'after a stop or a hand-over the next owner suspects runs that crashed nobody',
    rule: 'X43',
    caughtBy: { seeds: 100, breaking: ['[X43]'] },
  },
  {
    name: 'suspect-beside-others',
    file: 'src/pool/solitude.ts',
    find: 'for (const neighbour of this.#neighbours) if (neighbour.busy() > 0) return',
    replace: 'for (const neighbour of this.#neighbours) if (neighbour.busy() > 0) break',
    breaks: 'a run that crashed twice starts beside others, which crash with it',
    rule: 'X45',
    caughtBy: { seeds: 100, breaking: ['[X45]'] },
  },
  {
    name: 'suspects-marked-before-their-turn',
    file: 'src/pool/worker.ts',
    find: 'const busy = this.#runner.size + this.#suspects.size',
    replace: 'const busy = this.#runner.size',
    breaks: 'suspects that cannot start yet are marked with those that do, and pay for their crash',
    rule: 'V19',
    caughtBy: {
      file: 'test/unit/pool/suspects.test.ts',
      test: '[X44] [V19] each suspect is marked just before its own start, twice as many as were under way, and then none',
    },
  },
  {
    name: 'suspects-of-one-lane',
    file: 'src/pool/suspicion.ts',
    find: 'const count = (lane: Lane): number => Math.max(2 * suspects, before?.left.get(lane) ?? 0)',
    replace:
      "const count = (lane: Lane): number => Math.max(lane === 'fanout' ? 2 * suspects : 0, before?.left.get(lane) ?? 0)",
    breaks:
      'after a take-over only the runs of the first lane are suspects, and a poison of another crashes on',
    rule: 'V18',
    caughtBy: { seeds: 100, breaking: ['[X44]'] },
  },
  {
    name: 'unmarked-suspect-starts',
    file: 'src/pool/suspects.ts',
    find: 'await delay.wait(this.#over.signal)',
    replace: `for (const { flight } of rest) this.#parts.start(flight)
        break`,
    breaks: 'a suspect whose mark was not answered starts all the same',
    rule: 'X47',
    caughtBy: {
      file: 'test/unit/pool/suspects.test.ts',
      test: '[X47] a mark that fails is sent again, counts as in flight, and its run starts after the answer',
    },
  },
]
