// Starts threads from files next to those that start them.
import { Worker } from 'node:worker_threads'

/** Starts the file `name`, given without its extension, in the folder of the module `url`. */
export function startThread(url: string, name: string, workerData: unknown): Worker {
  // The same folder holds .ts in a checkout and .js in the package.
  const file = new URL(`./${name}${url.slice(-3)}`, url)
  // A program given as text has a flag that a thread would inherit, and that no file may have.
  const isText = process.execArgv.some((flag) => flag.startsWith('--input-type'))
  return new Worker(file, isText ? { workerData, execArgv: [] } : { workerData })
}
