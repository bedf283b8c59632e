// The proof with which a server asks another one: that it knows the token, without telling it. Whoever answers at an address
// of the roster may be a stranger, and could keep a token; a proof is for one member, one question and half a minute. [I12]
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** Who is asked with it asks nobody else. */
export const HOP_HEADER = 'headrace-hop'
/** How far the clocks of two servers may be apart, the way included. */
export const PROOF_WITHIN_MS = 30_000

const MARK = '1'
const PROOF = /^(\d{1,16})\.([\w-]{43})$/

export interface Hop {
  /** Under which the one that is asked is in the roster. */
  member: string
  /** With its query, as the one that is asked sees it. */
  path: string
  /** Milliseconds since 1970. */
  at: number
}

/** What the header holds; without a token there is nothing to prove. */
export function writeHop(token: string | null, hop: Hop): string {
  return token === null ? MARK : `${hop.at}.${digest(token, hop).toString('base64url')}`
}

export function isHop(headers: IncomingHttpHeaders): boolean {
  return headers[HOP_HEADER] !== undefined
}

/** Whether a header proves that who asked this member for this path just now knows the token. */
export function isProof(
  header: string | string[] | undefined,
  token: string,
  { member, path, at: now }: Hop,
): boolean {
  const [, time, given = ''] = PROOF.exec(String(header)) ?? []
  if (time === undefined) return false
  const at = Number(time)
  if (Math.abs(now - at) > PROOF_WITHIN_MS) return false
  const expected = digest(token, { member, path, at })
  const told = Buffer.from(given, 'base64url')
  return told.length === expected.length && timingSafeEqual(told, expected)
}

function digest(token: string, { member, path, at }: Hop): Buffer {
  return createHmac('sha256', token).update(`why\n${member}\n${path}\n${at}`).digest()
}
