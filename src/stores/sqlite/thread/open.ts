// A SQLite store on a thread of its own: what a commit costs, the waiting for the disk above all, keeps nobody else
// waiting, and a second core helps. See docs/decisions/0012.
import type { Store } from '../../../store.ts'
import type { Emitter } from '../../../telemetry.ts'
import { startThread } from '../start-thread.ts'
import { StoreClient } from './client.ts'
import type { Message, Start } from './messages.ts'

/** Opens the store of a file; its clock is the system's, and it has no plan of faults. */
export async function openSqliteThread(path: string, telemetry: Emitter): Promise<Store> {
  const workerData: Start = { path, member: telemetry.member }
  const thread = startThread(import.meta.url, 'store-thread', workerData)
  const client = new StoreClient({
    name: path,
    telemetry,
    post: (call) => thread.postMessage(call),
    // A thread that nobody waits for keeps no process alive.
    waits: (anybody) => (anybody ? thread.ref() : thread.unref()),
  })
  thread.on('message', (message: Message) => client.receive(message))
  let closing: Promise<void> | null = null
  thread.on('error', (error) => client.end(error))
  thread.on('messageerror', (error) => client.end(error))
  const exited = new Promise<void>((resolve) => {
    thread.once('exit', (code) => {
      client.end(closing === null ? new Error(`it exited with code ${code}`) : undefined)
      resolve()
    })
  })
  const store = await client.store()
  const close = async (): Promise<void> => {
    if (!client.hasEnded) await store.close()
    // Its end may be all that keeps the process alive.
    thread.ref()
    await exited
  }
  return { ...store, close: () => (closing ??= close()) }
}
