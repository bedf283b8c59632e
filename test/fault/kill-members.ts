// SIGKILL of a member at random moments, a third of them the leader; each is followed by another.
import { type Crew, type Mate, untilTime } from './crew.ts'

export interface KilledMembers {
  /** How many of the killed were the leader. */
  leaders: number
  /** Of every partition of every killed member: from the kill to the first write of the next owner. */
  takenOverMs: number[]
}

export interface KillPlan {
  kills: number
  /** From one kill to the next. */
  apartMs: readonly [least: number, most: number]
  /** From a kill to the start of the next server. */
  restartAfterMs: number
  progress?: (text: string) => void
}

interface Kill {
  member: string
  at: number
  wasLeader: boolean
}

export async function killMembers(crew: Crew, plan: KillPlan): Promise<KilledMembers> {
  const { kills, apartMs, restartAfterMs, progress = () => undefined } = plan
  const { random } = crew.witness
  const killed: Kill[] = []
  let killAt = performance.now() + random.next() * 1000
  for (let nth = 0; nth < kills; nth++) {
    await untilTime(killAt)
    const victim = await choose(crew, nth % 3 === 0)
    const began = performance.now()
    killed.push(await killOne(crew, victim))
    await untilTime(began + restartAfterMs)
    await crew.start()
    killAt = began + apartMs[0] + random.next() * (apartMs[1] - apartMs[0])
    progress(
      `kill ${nth + 1} of ${kills}: ${victim.name}${killed.at(-1)?.wasLeader === true ? ', the leader' : ''}`,
    )
  }
  await crew.settled()
  const takenOverMs: number[] = []
  for (const kill of killed) takenOverMs.push(...(await crew.audit.takenOver({ ...kill, from: 'then' })))
  return { leaders: killed.filter(({ wasLeader }) => wasLeader).length, takenOverMs }
}

async function killOne(crew: Crew, victim: Mate): Promise<Kill> {
  const wasLeader = (await crew.leader()) === victim
  const member = await crew.idOf(victim)
  const at = Date.now()
  await crew.kill(victim)
  return { member, at, wasLeader }
}

async function choose(crew: Crew, aimsAtLeader: boolean): Promise<Mate> {
  const leader = aimsAtLeader ? await crew.leader() : undefined
  return leader ?? crew.anyone()
}
