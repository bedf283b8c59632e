// What a handler of a simulated run is given, for tests of those who judge it.
import type { Held } from '../../../src/fence.ts'
import type { RunContext } from '../../../src/pool/run.ts'

export function contextOf(fence: Held): RunContext {
  return {
    signal: new AbortController().signal,
    attempt: 1,
    latenessMs: 0,
    fence,
    log: () => undefined,
    progress: () => undefined,
  }
}
