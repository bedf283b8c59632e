// SIGTERM of a member under load, again and again: the others go on without waiting for a lease to run out.
import { type Crew, untilTime } from './crew.ts'

export interface StoppedMembers {
  codes: (number | null)[]
  /** Of every partition of every stopped member: from its last write to the first write of the next owner. */
  handedOverMs: number[]
}

export async function stopMembers(
  crew: Crew,
  stops: number,
  progress: (text: string) => void = () => undefined,
): Promise<StoppedMembers> {
  const codes: StoppedMembers['codes'] = []
  const handedOverMs: number[] = []
  for (let nth = 0; nth < stops; nth++) {
    await untilTime(performance.now() + crew.witness.random.next() * 1000)
    const victim = crew.anyone()
    const stop = { member: await crew.idOf(victim), at: Date.now(), from: 'last write' } as const
    codes.push(await crew.terminate(victim))
    await crew.settled()
    await crew.start()
    await crew.settled()
    handedOverMs.push(...(await crew.audit.takenOver(stop)))
    progress(`SIGTERM ${nth + 1} of ${stops}: ${victim.name}, exit code ${codes.at(-1)}`)
  }
  return { codes, handedOverMs }
}
