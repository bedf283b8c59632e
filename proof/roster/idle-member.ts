// A program with many pools of ticks, one tick of each for tomorrow and nothing else to do: `node idle-member.ts ADDRESS
// POOLS`. Says "ready" to its parent, and stops on SIGTERM.
import { headrace } from '../../src/index.ts'

const [address = '', pools = '1'] = process.argv.slice(2)
const DAY_MS = 86_400_000

const race = await headrace({ store: address })
const names = Array.from({ length: Number(pools) }, (_, index) => `pool-${index + 1}`)
const ticks = names.map((name) => race.ticks(name))
await race.start()
for (const { pool } of ticks) await pool.put('tomorrow', { in: DAY_MS })
process.once('SIGTERM', () => void race.stop().then(() => process.disconnect()))
process.send?.('ready')
