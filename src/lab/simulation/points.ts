// The points between the steps of a protocol: how often each was reached in a run, and how many members died there.
import { FAULT_POINTS, type FaultPoint } from '../../fault.ts'

export interface PointCount {
  reached: number
  died: number
}

export type PointCounts = Record<FaultPoint, PointCount>

export function noPoints(): PointCounts {
  return Object.fromEntries(FAULT_POINTS.map((point) => [point, { reached: 0, died: 0 }])) as PointCounts
}

/** Thrown in the place of an effect that its sender did not live to see: nothing is changed. */
export class Died extends Error {
  override readonly name = 'Died'
}
