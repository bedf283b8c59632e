// Puts and their answers, one by one, for those who listen to single puts.
import type { PutFacts } from '../telemetry.ts'
import type { Mode } from './entry.ts'
import type { PutRequest, PutResponse } from './store.ts'

/** What was answered from an earlier request is left out: it was told then. */
export function putFacts(
  mode: Mode,
  requests: readonly PutRequest[],
  responses: readonly PutResponse[],
): PutFacts[] {
  return responses.flatMap((response, nth) => {
    if (response.kind !== 'answered' || response.replayed) return []
    const puts = requests[nth]?.puts ?? []
    return response.answers.map((answer, place) => {
      const { key = '', at = null } = puts[place] ?? {}
      // A slot that was not named is the moment of the put, which is when it is due.
      return { key, slot: mode === 'each' ? (at ?? answer.dueAt) : null, ...answer }
    })
  })
}
