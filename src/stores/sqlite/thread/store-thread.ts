// The thread of open.ts: opens the store of a file, and lends it to the thread that started this one.
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../../clock.ts'
import { assert } from '../../../errors.ts'
import { noFaults } from '../../../fault.ts'
import { openSqliteStore } from '../store.ts'
import { emitter, lend } from './host.ts'
import { type Call, type Message, type Start, toWire } from './messages.ts'

assert(parentPort !== null, 'this file is run as a thread')
const port = parentPort
const send = (message: Message): void => port.postMessage(message)
const { path, member } = workerData as Start

try {
  const telemetry = emitter(member, send)
  const answer = lend(await openSqliteStore(path, { clock: systemClock, telemetry, faults: noFaults }), send)
  port.on('message', (call: Call) => {
    // With nothing left to wait for, the thread ends.
    void answer(call).then(() => call.method === 'close' && port.close())
  })
} catch (error) {
  send({ kind: 'refused', error: toWire(error) })
}
