// Whether the statements that run often read large tables by their indexes.
import { lookAtPlans, plansAt } from '../../bench/pool/plans.ts'
import type { ProofRow } from '../row.ts'

export const rows: ProofRow[] = [
  {
    name: 'plans on large tables: statements that do not read by their indexes',
    bar: '0',
    async run({ quick, progress }) {
      const rows = plansAt(quick)
      const { faults, looked } = await lookAtPlans(rows, progress)
      const value = `${faults.length} of ${looked} at ${rows.toLocaleString('en-US')} rows`
      const detail = faults.length > 0 ? { detail: faults.join('\n') } : {}
      return { value, holds: faults.length === 0, ...detail }
    },
  },
]
