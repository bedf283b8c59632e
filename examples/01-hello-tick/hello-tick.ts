// A process asks for a tick and dies by kill -9; another process sees the tick arrive, on time.
import { spawnSync } from 'node:child_process'
import { type Headrace, headrace } from 'headrace'

const open = (): Promise<Headrace> => headrace({ store: 'sqlite:./.headrace/hello-tick.db' })
const ticksOf = (race: Headrace) => race.ticks('reminders', { partitions: 1 })

if (process.argv[2] === 'ask') {
  await ask()
} else {
  const self = [...process.execArgv, import.meta.filename, 'ask']
  const { signal } = spawnSync(process.execPath, self, { stdio: 'inherit' })
  console.log(`first process: ended by ${signal}`)
  await seeItArrive()
}

async function ask(): Promise<void> {
  const { pool } = ticksOf(await open())
  const { result } = await pool.put('user1234', { in: '2s', payload: { mail: 'welcome' } })
  console.log(`first process: the tick is ${result}, due in 2 s`)
  process.kill(process.pid, 'SIGKILL')
}

async function seeItArrive(): Promise<void> {
  const race = await open()
  const { topic } = ticksOf(race)
  // What earlier runs of this example left in the topic is not read again.
  const [bounds] = (await topic.status()).bounds
  const arrived = new Promise<void>((resolve) => {
    race.telemetry.on('ticks.moved', () => resolve())
  })
  await race.start()
  await arrived
  for (const { key, value, time } of (await topic.read(0, bounds?.head)).events) {
    const lateMs = time.getTime() - Date.parse(value.at)
    console.log(`second process: ${key} ${JSON.stringify(value.payload)}, ${lateMs} ms late`)
  }
  await race.stop()
}
