// SIGSTOP of a member past its lease, half of them between its look at what it holds and its write. What it does after
// SIGCONT must not count.
import { join } from 'node:path'
import { type Crew, type CrewOptions, untilTime } from './crew.ts'
import { until } from './until.ts'

const LEASE_MS = 1000

/** How the servers of such a crew are started. */
export const servePausable: NonNullable<CrewOptions['serve']> = {
  main: join(import.meta.dirname, 'serve-that-stops.ts'),
  args: ['--lease', `${LEASE_MS}ms`],
}

/** Answers how many stood still at the fault point. */
export async function pauseMembers(
  crew: Crew,
  pauses: number,
  progress: (text: string) => void = () => undefined,
): Promise<number> {
  const { random } = crew.witness
  let atPoint = 0
  for (let nth = 0; nth < pauses; nth++) {
    await untilTime(performance.now() + random.next() * 300)
    const { name, server } = crew.anyone()
    // With this signal it stops itself, at the point.
    const isAtPoint = nth % 2 === 0
    server.signal(isAtPoint ? 'SIGUSR2' : 'SIGSTOP')
    await until('it stands still', () => server.isStopped, 10_000)
    if (isAtPoint) atPoint += 1
    await untilTime(performance.now() + 2 * LEASE_MS + random.next() * 500)
    server.signal('SIGCONT')
    await until('it goes on', () => !server.isStopped, 10_000)
    await crew.settled()
    progress(`pause ${nth + 1} of ${pauses}: ${name}${isAtPoint ? ' before its write' : ''}`)
  }
  return atPoint
}
