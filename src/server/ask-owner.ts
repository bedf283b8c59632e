// Asks the owner of a partition what this process cannot know: what is in flight is in the owner's memory alone. One hop,
// one second; whatever goes wrong is told in place of the answer, and the caller tells what it knows itself. Rule [I12].
import type { OwnerEvidence } from '../pool/evidence.ts'
import type { WhyAnswer, WhyAsked } from '../why.ts'
import { toIso } from '../clock.ts'
import { HOP_HEADER, PROOF_WITHIN_MS, writeHop } from './hop.ts'
import { isObject } from './json.ts'
import type { ServerContext } from './route.ts'

/** Names the member that answered: at a loopback address of another machine it would be another one. */
export const MEMBER_HEADER = 'headrace-member'

const WITHIN_MS = 1000
const MOST_CHARACTERS = 65_536

/** What the owner says, or why it does not. */
export type OwnerAnswer = { told: WhyAnswer } | { told: null; cause: string; remedy: string | null }

export async function askOwner(
  { race, token }: ServerContext,
  { id, address }: OwnerEvidence & { address: string },
  asked: WhyAsked,
): Promise<OwnerAnswer> {
  const late = new AbortController()
  const timer = race.clock.timer(WITHIN_MS, () => late.abort(), { background: true })
  const path = pathOf(asked)
  const hop = writeHop(token, { member: id, path, at: race.clock.now() })
  try {
    // A redirect could lead the question elsewhere. A proxy in front of the owner may give it a path of its own.
    const response = await fetch(address.replace(/\/+$/, '') + path, {
      headers: { [HOP_HEADER]: hop, 'accept-encoding': 'identity' },
      redirect: 'error',
      signal: late.signal,
    })
    return await read(response, id, asked)
  } catch (error) {
    return failed(late.signal.aborted ? `timeout: no answer within ${WITHIN_MS} ms` : unreachable(error))
  } finally {
    timer.cancel()
  }
}

function pathOf({ pool, key, at }: WhyAsked): string {
  const query = new URLSearchParams({ pool, key, ...(at === null ? {} : { at: toIso(at) }) })
  return `/v1/why?${String(query)}`
}

async function read(response: Response, id: string, { pool, key }: WhyAsked): Promise<OwnerAnswer> {
  const refusal = refusalOf(response, id)
  if (refusal !== null) {
    await response.body?.cancel()
    return refusal
  }
  const text = await readText(response)
  if (text === null) return failed('its answer is too long')
  const told = parse(text)
  const isMeant = isAnswer(told) && told.pool === pool && told.key === key
  return isMeant ? { told } : failed('its answer cannot be read')
}

function refusalOf({ status, headers }: Response, id: string): OwnerAnswer | null {
  if (status === 401) {
    const clocks = `and clocks that agree to ${PROOF_WITHIN_MS / 1000} s`
    return failed('refused: 401', `servers of one store need one token, ${clocks}`)
  }
  if (status !== 200) return failed(`refused: ${status}`)
  return headers.get(MEMBER_HEADER) === id ? null : failed('another member answered')
}

/** Null: it is longer than any answer of ours. Whoever answers there may go on for ever. */
async function readText({ body }: Response): Promise<string | null> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MOST_CHARACTERS) return null
  }
  return text
}

function failed(cause: string, remedy: string | null = null): OwnerAnswer {
  return { told: null, cause, remedy }
}

/** fetch says "fetch failed" and hides the reason in its cause. */
function unreachable(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = isObject(cause) ? cause['code'] : undefined
  return typeof code === 'string' ? `unreachable: ${code}` : 'unreachable'
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Whether it can be passed on: an owner of another version may know more, and must not know less. */
function isAnswer(told: unknown): told is WhyAnswer {
  if (!isObject(told) || !isObject(told['evidence']) || !Array.isArray(told['also'])) return false
  return ['state', 'sentence', 'now'].every((name) => typeof told[name] === 'string')
}
