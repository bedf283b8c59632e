// What collectors send: bodies and queries → checked values, or `invalid_input`.
import type { FastifyRequest } from 'fastify'
import { MOST_PARTITIONS, checkChoice, checkKey, checkName } from '../check.ts'
import { nearest } from '../nearest.ts'
import type { CollectorKey, NewCollector } from '../roster/collectors.ts'
import { DIVISIONS, type Division } from '../roster/filter.ts'
import type { Pass } from '../roster/workers.ts'
import { jsonOf } from './body.ts'
import { isObject, refuse } from './json.ts'

const MOST_WEIGHT = 100
/** A month, in seconds. */
const LONGEST_PASS = 31 * 86_400

export function shareOf(request: FastifyRequest): string {
  return checkName((request.params as { share: string }).share, 'share')
}

export function collectorOf(request: FastifyRequest): CollectorKey {
  const { id } = request.params as { id: string }
  return { share: shareOf(request), id: checkKey(id, 'id') }
}

export function readNewCollector(request: FastifyRequest): NewCollector {
  const { name, weight, partitions, by } = fieldsOf(request, ['name', 'weight', 'partitions', 'by'])
  return {
    ...(name === undefined ? {} : { name: checkKey(name, 'name') }),
    ...(weight === undefined ? {} : { weight: readWhole(weight, { name: 'weight', max: MOST_WEIGHT }) }),
    ...(partitions === undefined
      ? {}
      : { partitions: readWhole(partitions, { name: 'partitions', max: MOST_PARTITIONS }) }),
    ...(by === undefined ? {} : { by: readDivision(by) }),
  }
}

/** What the collector releases with a heartbeat. */
export function readRelease(request: FastifyRequest): string | undefined {
  const { release } = fieldsOf(request, ['release'])
  if (release === undefined || release === null) return undefined
  if (typeof release === 'string') return release
  throw refuse('release must be a text', 'send the `release` of the last answer, or leave it out')
}

export function readPass(request: FastifyRequest): Pass {
  const { took, had } = fieldsOf(request, ['took', 'had'])
  const seconds = { took: readSeconds(took, 'took'), had: readSeconds(had, 'had') }
  if (seconds.had > 0) return seconds
  throw refuse('had is 0', 'send the seconds of the interval: as long as a pass may take')
}

export function readDivision(by: unknown): Division {
  return checkChoice(by, DIVISIONS, { name: 'by', code: 'invalid_input' })
}

/** The body's fields, none other than these; no body is no fields. */
function fieldsOf<Name extends string>(
  request: FastifyRequest,
  names: readonly Name[],
): { [Key in Name]?: unknown } {
  const { body } = request
  if (body === undefined || body === null || (Buffer.isBuffer(body) && body.length === 0)) return {}
  const value = jsonOf(request)
  const known = `its fields are ${names.join(', ')}`
  if (!isObject(value)) throw refuse('the body must be a JSON object', known)
  for (const name of Object.keys(value)) {
    if (names.includes(name as Name)) continue
    const near = nearest(name.slice(0, 64), names)
    const remedy = near === null ? known : `did you mean ${near}?`
    throw refuse(`the body has a field ${JSON.stringify(name.slice(0, 64))} that is not known`, remedy)
  }
  return value as { [Key in Name]?: unknown }
}

function readWhole(value: unknown, { name, max }: { name: string; max: number }): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value
  throw refuse(`${name} is not a whole number from 1 to ${max}`, 'send it as a JSON number, or leave it out')
}

function readSeconds(value: unknown, name: string): number {
  if (typeof value === 'number' && value >= 0 && value <= LONGEST_PASS) return value
  throw refuse(
    `${name} is not a number from 0 to ${LONGEST_PASS}`,
    'send {"took": seconds worked, "had": seconds of the interval}',
  )
}
