// The thread of open.ts: opens the store of a file, and lends it to the thread that started this one.
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../../clock.ts'
import { assert } from '../../../errors.ts'
import { noFaults } from '../../../fault.ts'
import { openSqliteStore } from '../store.ts'
import { emitter, lend } from './host.ts'
import { type Call, type Start, type Told, toWire } from './wire.ts'

assert(parentPort !== null, 'this file is run as a thread')
const port = parentPort
const tell = (told: Told): void => port.postMessage(told)
const { path, member } = workerData as Start

try {
  const telemetry = emitter(member, tell)
  const answer = lend(await openSqliteStore(path, { clock: systemClock, telemetry, faults: noFaults }), tell)
  port.on('message', (call: Call) => {
    // With nothing left to wait for, the thread ends.
    void answer(call).then(() => call.method === 'close' && port.close())
  })
} catch (error) {
  tell({ kind: 'refused', error: toWire(error) })
}
