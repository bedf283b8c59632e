// node join-together.ts STORE COUNT: starts so many members at once when its input says so, and prints for each line of
// input what became of them: the ids under which they joined, and how many members they declared dead.
import { createInterface } from 'node:readline'
import { type Headrace, headrace } from '../../src/headrace.ts'

const [store = 'memory:', count = '1'] = process.argv.slice(2)
const joined: string[] = []
let dead = 0
const races: Headrace[] = []

async function start(): Promise<void> {
  const race = await headrace({ store, partitions: 24, log: 'silent', signals: false })
  races.push(race)
  race.telemetry.on('roster.joined', ({ id }) => void joined.push(id))
  race.telemetry.on('roster.decided', (decided) => void (dead += decided.dead))
  race.ticks()
  await race.start()
}

console.log('loaded')
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'start') await Promise.all(Array.from({ length: Number(count) }, start))
  console.log(JSON.stringify({ joined, dead }))
}
await Promise.all(races.map((race) => race.stop()))
