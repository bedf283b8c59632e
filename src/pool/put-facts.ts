// Puts and their answers, counted, and one by one for those who listen to single puts.
import type { PutFacts } from '../telemetry.ts'
import type { Mode } from './entry.ts'
import type { PutResult } from './merge.ts'
import type { PutRequest, PutResponse } from './store.ts'

/** How many had each result. */
export function putCounts(responses: readonly PutResponse[]): Record<PutResult, number> {
  const counts = { created: 0, merged: 0, replaced: 0, kept: 0 }
  for (const response of responses) {
    if (response.kind !== 'answered' || response.replayed) continue
    for (const answer of response.answers) counts[answer.result] += 1
  }
  return counts
}

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

/** The key of the first put that joined a run and carried a payload, which replaced the one before; null if there is none. */
export function replacedPayload(
  requests: readonly PutRequest[],
  responses: readonly PutResponse[],
): string | null {
  for (const [nth, response] of responses.entries()) {
    if (response.kind !== 'answered' || response.replayed) continue
    const place = response.answers.findIndex(
      ({ result, tally }, index) =>
        result === 'merged' && tally > 1 && requests[nth]?.puts[index]?.payload !== undefined,
    )
    if (place !== -1) return requests[nth]?.puts[place]?.key ?? null
  }
  return null
}
