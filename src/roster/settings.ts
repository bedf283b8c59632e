// The lease is the one knob of the roster; everything else is a part of it. Pure.

export interface Timing {
  leaseMs: number
  /** How often a member beats. */
  pulseMs: number
  /** How long a beat may take. */
  pulseWithinMs: number
  /** How long a member trusts what it holds, from before it sent its last answered beat. [H2] */
  trustMs: number
  /** More than this between two answered beats is a gap. [K5] */
  gapMs: number
}

export function timingOf(leaseMs: number): Timing {
  return {
    leaseMs,
    pulseMs: Math.round(leaseMs / 6),
    pulseWithinMs: Math.round(leaseMs / 4),
    trustMs: Math.round((leaseMs * 5) / 6),
    gapMs: Math.round(leaseMs / 3),
  }
}
