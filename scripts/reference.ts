// npm run reference: writes docs/reference from the code that each page speaks of.
// test/unit/scripts/reference.test.ts fails when a page is not what this would write.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeApiPages } from './reference/api.ts'
import { writeCliPage } from './reference/cli.ts'
import { writeErrorsPage } from './reference/errors.ts'
import { writeHttpPage } from './reference/http.ts'
import { writeMetricsPage } from './reference/metrics.ts'
import { writeOptionsPage } from './reference/options.ts'
import { writeTelemetryPage } from './reference/telemetry.ts'

export const referenceFolder = join(import.meta.dirname, '../docs/reference')

/** File name → text of every generated page. */
export async function referencePages(): Promise<Record<string, string>> {
  return {
    ...writeApiPages(),
    'cli.md': writeCliPage(),
    'errors.md': writeErrorsPage(),
    'http.md': await writeHttpPage(),
    'metrics.md': writeMetricsPage(),
    'options.md': writeOptionsPage(),
    'telemetry.md': writeTelemetryPage(),
  }
}

if (import.meta.main) {
  mkdirSync(referenceFolder, { recursive: true })
  for (const [name, text] of Object.entries(await referencePages())) {
    writeFileSync(join(referenceFolder, name), text)
    process.stdout.write(`docs/reference/${name}\n`)
  }
}
