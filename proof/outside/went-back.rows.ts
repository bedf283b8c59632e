// A PostgreSQL store goes back under living members: what is answered afterwards runs, and nothing is mixed.
import { type WentBack, WAYS, goBack } from '../../test/fault/go-back.ts'
import type { ProofRow } from '../row.ts'

export const rows: ProofRow[] = WAYS.map((way) => ({
  name: `${way} under living members: keys answered afterwards that did not run, or ran in another pool`,
  bar: '0',
  async run({ quick, progress }) {
    const [times, inFlight, keys] = quick ? [1, 300, 900] : [10, 3000, 9000]
    const all: WentBack[] = []
    for (let time = 1; time <= times; time += 1) {
      const went = await goBack(way, { inFlight, keys })
      if (went === null) return { value: 'there is no PostgreSQL 15', holds: false }
      all.push(went)
      progress(
        `${time} of ${times}: ${went.lost} of ${inFlight} in flight were lost, ${went.wrong.length} wrong`,
      )
    }
    const wrong = all.flatMap((went) => went.wrong)
    const sum = (count: (went: WentBack) => number): number =>
      all.reduce((total, went) => total + count(went), 0)
    return {
      value: `${wrong.length} in ${times} times`,
      holds: wrong.length === 0,
      detail:
        `${sum(({ inFlight: flying }) => flying)} in flight, of which ${sum(({ lost }) => lost)} were answered and gone; ${sum(({ answered }) => answered)} keys answered; ${sum(({ failed }) => failed)} calls made again ${wrong.slice(0, 5).join('; ')}`.trimEnd(),
    }
  },
}))
