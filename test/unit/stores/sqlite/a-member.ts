// A member of a roster, and what it says with each pulse.
import type { Beat, NewMember } from '../../../../src/roster/store.ts'

export const MEMBER: NewMember = {
  id: 'a',
  name: 'host:a',
  address: null,
  version: '0.1.0',
  weight: 1,
  concurrency: 1,
  leaseMs: 3000,
  serves: [],
  leads: true,
}

export const BEAT: Beat = { member: 'a', leaseMs: 3000, leads: true, health: {}, holding: {}, refused: [] }
