// Turns findings into a table for the terminal, one JSON document, or a page of docs/operating/proof.
import type { Finding } from './run-rows.ts'

export interface Machine {
  cpu: string
  cores: number
  memory: string
  os: string
}

export interface ProofDocument {
  capability: string
  quick: boolean
  commit: string
  command: string
  machine: Machine
  node: string
  date: string
  rows: Finding[]
}

const header = ['name', 'value', 'bar', 'holds']

const verdict = (holds: Finding['holds']): string => (holds === true ? 'yes' : holds === false ? 'NO' : holds)

const cells = ({ name, value, bar, holds }: Finding): string[] => [name, String(value), bar, verdict(holds)]

export function formatTable(findings: readonly Finding[]): string {
  const table = [header, ...findings.map(cells)]
  const widths = header.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const failures = findings.filter(({ holds, detail }) => holds === false && detail !== undefined)
  return [...lines, ...failures.map(({ name, detail }) => `\n${name}: ${detail}`)].join('\n')
}

/** The line that .ci/run adds up. A row that was not judged is neither passed nor skipped: it ran. */
export function summarize(findings: readonly Finding[]): string {
  const count = (holds: Finding['holds']): number =>
    findings.filter((finding) => finding.holds === holds).length
  const unjudged = count('not judged')
  const note = unjudged > 0 ? `${unjudged} shown, not judged: a quick run does not measure speed\n` : ''
  return `${note}${count(true)} passed, ${count(false)} failed, 0 skipped`
}

export function formatReport(proof: ProofDocument): string {
  const row = (texts: string[]): string =>
    `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`
  const { cpu, cores, memory, os } = proof.machine
  return [
    `# Proof: ${proof.capability}`,
    '',
    `Written by \`${proof.command}\`${proof.quick ? ', a quick run: it judges no speed' : ''}.`,
    '',
    row([...header, 'detail']),
    row([...header, 'detail'].map(() => '---')),
    ...proof.rows.map((finding) => row([...cells(finding), finding.detail?.split('\n')[0] ?? ''])),
    '',
    `- commit: ${proof.commit}`,
    `- machine: ${cpu}, ${cores} cores, ${memory}, ${os}`,
    `- Node: ${proof.node}`,
    `- date: ${proof.date}`,
    '',
  ].join('\n')
}
