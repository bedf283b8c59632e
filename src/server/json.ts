// JSON from outside: bytes → value, or `invalid_input` that says what is wrong with them.
import { isUtf8 } from 'node:buffer'
import { HeadraceError, messageOf } from '../errors.ts'
import { DEEPEST_PAYLOAD } from '../check.ts'

export function readJson(body: Buffer): unknown {
  if (body.length === 0) throw refuse('the body is empty', 'send JSON')
  if (!isUtf8(body)) throw refuse('the body is not UTF-8', 'encode it as UTF-8')
  return parseJson(body.toString('utf8'))
}

export function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refuse(`this is not JSON: ${messageOf(error)}`, 'send well-formed JSON')
  }
  // Looking at the text first spares the walk in nearly every request; an escape may hide any name.
  if (text.includes('__proto__') || text.includes('constructor') || text.includes('\\u')) {
    refusePoison(value, DEEPEST_PAYLOAD + 2)
  }
  return value
}

/** Names that change an object's prototype when someone later copies it carelessly. */
function refusePoison(value: unknown, levels: number): void {
  if (typeof value !== 'object' || value === null) return
  if (levels === 0) throw refuse(`this is nested deeper than ${DEEPEST_PAYLOAD} levels`, 'flatten it')
  if (Object.hasOwn(value, '__proto__')) throw refuse('the key "__proto__" is not allowed', 'rename it')
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'constructor' && isObject(inner) && Object.hasOwn(inner, 'prototype')) {
      throw refuse('the key "constructor.prototype" is not allowed', 'rename it')
    }
    refusePoison(inner, levels - 1)
  }
}

/** A JSON object: neither a list nor null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function refuse(message: string, remedy: string): HeadraceError {
  return new HeadraceError('invalid_input', message, { remedy })
}
