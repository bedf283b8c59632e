// (c), (d): how late runs start that fall due at 4,000 a second: on PostgreSQL beside graphile-worker (c), and beside BullMQ
// on a Redis (d). A process each, by turns; of BullMQ's settings the more punctual one counts.
import { join } from 'node:path'
import { startRedis } from '../../test/servers/redis.ts'
import { median } from '../measure.ts'
import { startServer } from '../pool/server.ts'
import type { Findings, Question, QuestionContext, Row } from '../question.ts'
import { type Place, type Setting, nameOf } from './contestant.ts'
import type { Lateness, LatenessProbeInput } from './lateness-probe.ts'
import { PUNCTUAL } from './plan.ts'

const C = 'c: lateness p99 ÷ graphile-worker’s'
const D = 'd: lateness p99 ÷ BullMQ’s at its best'
const PER_SECOND = 4000
const ROUNDS = 3

export const lateness: Question = {
  letters: ['c', 'd'],
  title: 'lateness',
  bars: [
    { name: C, unit: '×', limit: { atMost: 1 } },
    { name: D, unit: '×', limit: { atMost: 0.25 } },
  ],
  seconds: (quick) => (quick ? 12 : 160),
  run,
}

async function run({ quick, processes, progress }: QuestionContext): Promise<Findings> {
  const server = await startServer()
  const redis = await startRedis()
  try {
    const placeOf = ({ team }: Setting, round: number): Place => {
      const isBull = team === 'BullMQ'
      return { address: isBull ? `redis://127.0.0.1:${redis?.port}` : server.url(), schema: `late_${round}` }
    }
    const settings = (quick ? PUNCTUAL.slice(0, -1) : PUNCTUAL).filter(
      ({ team }) => team !== 'BullMQ' || redis !== null,
    )
    const measured = settings.map((setting) => ({ setting, all: [] as Lateness[] }))
    const load = { perSecond: PER_SECOND, seconds: quick ? 1 : 8, warmUpMs: quick ? 500 : 2000 }
    let race = 0
    for (let round = 0; round < (quick ? 1 : ROUNDS); round += 1) {
      for (const { setting, all } of measured) {
        race += 1
        const input: LatenessProbeInput = { setting, place: placeOf(setting, race), ...load }
        all.push(
          await processes.run<Lateness>(join(import.meta.dirname, 'lateness-probe.ts'), input, progress),
        )
      }
    }
    return summarize(measured, redis?.settings)
  } finally {
    await redis?.remove()
    await server.remove()
  }
}

interface Measured {
  setting: Setting
  all: Lateness[]
}

function summarize(measured: readonly Measured[], redis: string | undefined): Findings {
  const rows: Row[] = [{ name: 'c, d: runs that fall due', value: PER_SECOND, unit: '/s' }]
  const p99Of = ({ all }: Measured): number => median(all.map(({ p99 }) => p99))
  const letters = { Headrace: 'c, d', 'graphile-worker': 'c', 'pg-boss': 'c', BullMQ: 'd' }
  for (const each of measured) {
    const { team } = each.setting
    const where = team === 'BullMQ' ? `, Redis with an ${redis}` : ''
    const name = `${letters[team]}: ${nameOf(each.setting)}${where}`
    rows.push({ name: `${name}: p50`, value: median(each.all.map(({ p50 }) => p50)), unit: 'ms' })
    rows.push({ name: `${name}: p99`, value: p99Of(each), unit: 'ms' })
  }
  const least = (team: string): number =>
    Math.min(...measured.filter(({ setting }) => setting.team === team).map(p99Of))
  const ours = least('Headrace')
  const values: Record<string, number> = { [C]: ours / least('graphile-worker') }
  // Without a Redis there is nothing to compare with, and the bar does not hold.
  if (redis !== undefined) values[D] = ours / least('BullMQ')
  return { rows, values }
}
