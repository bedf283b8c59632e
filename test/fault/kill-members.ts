// SIGKILL of one of three members at random moments, a third of them the leader; each is followed by another.
import { Crew, type CrewVerdict, type Mate, untilTime } from './crew.ts'

export interface KilledMembers extends CrewVerdict {
  /** How many of the killed were the leader. */
  leaders: number
  /** Of every partition of every killed member: from the kill to the first write of the next owner. */
  takenOverMs: number[]
}

export interface KillPlan {
  kills: number
  /** From one kill to the next. */
  apartMs: readonly [least: number, most: number]
  progress?: (text: string) => void
}

const RESTART_AFTER_MS = 5000

export async function killMembers({
  kills,
  apartMs,
  progress = () => undefined,
}: KillPlan): Promise<KilledMembers> {
  await using crew = await Crew.of(3)
  const { random } = crew.witness
  const killed: { member: string; at: number; wasLeader: boolean }[] = []
  let killAt = performance.now() + random.next() * 1000
  for (let nth = 0; nth < kills; nth++) {
    await untilTime(killAt)
    const victim = await choose(crew, nth % 3 === 0)
    const wasLeader = (await crew.leader()) === victim
    const member = await crew.idOf(victim)
    const at = Date.now()
    const began = performance.now()
    const gone = crew.kill(victim)
    killed.push({ member, at, wasLeader })
    await gone
    await untilTime(began + RESTART_AFTER_MS)
    await crew.start()
    killAt = began + apartMs[0] + random.next() * (apartMs[1] - apartMs[0])
    progress(`kill ${nth + 1} of ${kills}: ${victim.name}${wasLeader ? ', the leader' : ''}`)
  }
  await crew.settled()
  const verdict = await crew.judge()
  const takenOverMs: number[] = []
  for (const { member, at } of killed)
    takenOverMs.push(...(await crew.audit.takenOver({ member, at, from: 'then' })))
  return { ...verdict, leaders: killed.filter(({ wasLeader }) => wasLeader).length, takenOverMs }
}

async function choose(crew: Crew, aimsAtLeader: boolean): Promise<Mate> {
  const leader = aimsAtLeader ? await crew.leader() : undefined
  return leader ?? (crew.mates[crew.witness.random.below(crew.mates.length)] as Mate)
}

/** A part of the sorted values: 0.99 is the 99th percentile. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? Infinity)
}
