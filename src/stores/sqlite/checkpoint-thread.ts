// The thread of checkpointer.ts: copies the log into the file on request, over a connection of its own.
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { copyLog } from './database.ts'

const connection = new DatabaseSync(String(workerData))

parentPort?.on('message', (message: 'copy' | 'close') => {
  if (message === 'copy') {
    parentPort?.postMessage(copyLog(connection))
    return
  }
  connection.close()
  parentPort?.close()
})
