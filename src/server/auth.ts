// Who may ask: a bearer token, compared in constant time, or the proof of a server that knows it; without one only who asks
// for this machine by name; and no changes on behalf of another site.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { HeadraceError } from '../errors.ts'
import { checkToken } from '../options.ts'
import { HOP_HEADER, type Hop, PROOF_WITHIN_MS, isHop, isProof } from './hop.ts'

export interface Exposure {
  host: string
  token: string | null
  behindProxy: 'no' | 'yes'
}

/** Refuses to be reachable from other machines without a token, and a token that no request can carry. */
export function refuseOpenServer({ host, token, behindProxy }: Exposure): void {
  if (isIP(host) === 0 && /^[\d.]+$|:/.test(host)) {
    throw new HeadraceError('invalid_options', `there is no address ${host}`, {
      remedy: 'choose an address of this machine, such as 127.0.0.1 or ::1 (without brackets)',
    })
  }
  if (token !== null) {
    checkToken(token, 'token')
    return
  }
  const open = isLoopback(host) ? null : `listening on ${host} lets other machines in`
  const proxied = behindProxy === 'yes' ? 'behind a proxy it answers anyone who reaches the proxy' : null
  const what = open ?? proxied
  if (what === null) return
  const remedy =
    open === null ? 'set HEADRACE_TOKEN, and send it' : 'set HEADRACE_TOKEN, or listen on 127.0.0.1'
  throw new HeadraceError('token_required', `${what}, and no token is set`, { remedy })
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

export function isLoopback(host: string): boolean {
  const family = isIP(host)
  return family === 0 ? host === 'localhost' : loopback.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

/** Refuses a request by its headers, and its path with its query; answers nothing when it may pass. */
export type Guard = (headers: IncomingHttpHeaders, path: string) => void

export function tokenGuard(token: string): Guard {
  const expected = hash(token)
  return ({ authorization }) => {
    const [, given] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
    // Hashes have one length, so the comparison takes one time whatever was sent.
    if (given !== undefined && timingSafeEqual(hash(given), expected)) return
    const what =
      given === undefined ? 'the request carries no bearer token' : 'the token is not the right one'
    throw new HeadraceError('unauthorized', what, { remedy: 'send the header Authorization: Bearer TOKEN' })
  }
}

/** Lets in whom the token lets in, and a server that proves to know it, in place of telling it. [I12] */
export function proofGuard(token: string, asked: () => Omit<Hop, 'path'>): Guard {
  const byToken = tokenGuard(token)
  return (headers, path) => {
    if (headers.authorization !== undefined || !isHop(headers)) {
      byToken(headers, path)
      return
    }
    if (isProof(headers[HOP_HEADER], token, { ...asked(), path })) return
    throw new HeadraceError('unauthorized', `the header ${HOP_HEADER} proves nothing to this server`, {
      remedy: `give servers of one store one token, and clocks that agree to ${PROOF_WITHIN_MS / 1000} s`,
    })
  }
}

function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/**
 * Without a token, refuses a request for any name but this machine's own: a page whose name was made to lead to
 * 127.0.0.1 (DNS rebinding) counts as the same site for the browser, and only `Host` tells it apart.
 */
export function hostGuard(configured: string): Guard {
  // Nearly every request asks for the name of the one before it.
  let passed: string | null = null
  return ({ host = '' }) => {
    if (host === passed) return
    const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d*)?$/.exec(host) ?? []
    const name = (bracketed ?? plain ?? '').toLowerCase()
    if (isLoopback(name) || name === configured.toLowerCase()) {
      passed = host
      return
    }
    throw new HeadraceError('host_unknown', `this server is not ${JSON.stringify(host.slice(0, 256))}`, {
      remedy: 'ask for localhost or 127.0.0.1; to be reached by another name, set HEADRACE_TOKEN',
    })
  }
}

/** A browser says where a request comes from; a page of another site must not change anything here. */
export const refuseCrossSite: Guard = ({ 'sec-fetch-site': site, origin, host }) => {
  if (site === undefined ? isOwn(origin, host) : site === 'same-origin' || site === 'none') return
  throw new HeadraceError('cross_site', `the request comes from another site (${site ?? origin})`, {
    remedy: 'send it from the same origin, or not from a browser',
  })
}

/** For browsers too old to send Sec-Fetch-Site; what is no browser sends no origin. */
function isOwn(origin: string | undefined, host: string | undefined): boolean {
  return origin === undefined || origin === `http://${host}` || origin === `https://${host}`
}
