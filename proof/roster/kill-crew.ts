// Three servers on one PostgreSQL under load, of which one after another is killed; judged by the posts and the tables.
// A quick run has a lease of a second, and so has less to wait for.
import { Crew, type CrewVerdict } from '../../test/fault/crew.ts'
import { type KilledMembers, killMembers } from '../../test/fault/kill-members.ts'
import type { ProofContext } from '../row.ts'

export interface CrewKills {
  isBounced: boolean
  kills: number
  apartMs: readonly [least: number, most: number]
}

const QUICK = { serve: { args: ['--lease', '1s'] } }
const QUICK_APART_MS = [3000, 4000] as const

export async function killCrew(
  { quick, progress }: ProofContext,
  { isBounced, kills, apartMs }: CrewKills,
): Promise<CrewVerdict & KilledMembers> {
  await using crew = await Crew.of(3, { isBounced, ...(quick ? QUICK : {}) })
  const times = quick ? { apartMs: QUICK_APART_MS, restartAfterMs: 2000 } : { apartMs, restartAfterMs: 5000 }
  const killed = await killMembers(crew, { kills, ...times, progress })
  return { ...(await crew.judge()), ...killed }
}
