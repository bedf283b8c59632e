// headrace doctor: what is wrong with a server, or with a store and who works on it, and what to do about it.
import type { Command } from 'commander'
import type { FindingView } from '../client/client.ts'
import { parseTime } from '../clock.ts'
import { HeadraceError } from '../errors.ts'
import { maskAddress } from '../mask.ts'
import type { CommandParts } from './command.ts'
import { type CliContext, Ended } from './context.ts'
import { type ClientFlags, addServerFlags, clientOf, refuseTwo, serverOf } from './flags.ts'
import { type StoreFlags, addStoreFlags, storeOf } from './store-flags.ts'
import { clockFinding, failureFinding, isWell } from './findings.ts'
import { type Output, escapeControls } from './output.ts'
import { examineStore } from './store-doctor.ts'

const EXAMPLES = `Examples:
  $ headrace doctor                                       ask the server on this machine
  $ headrace doctor --server http://10.0.0.7:7400 --json
  $ headrace doctor --store sqlite:./.headrace/headrace.db   look at a store without a server
`

export interface Diagnosis {
  /** What was looked at: the address of a server or of a store. */
  of: string
  ok: boolean
  findings: FindingView[]
}

type DoctorFlags = ClientFlags & StoreFlags

export function addDoctor({ program, context, output }: CommandParts): void {
  const command = program
    .command('doctor')
    .description('find what is wrong with a server or a store, with a remedy for each finding')
    .addHelpText('before', EXAMPLES)
  addStoreFlags(command, 'look at this store itself; brings its schema up to date')
  addServerFlags(command).action(async (flags: DoctorFlags, self: Command) => {
    const store = storeOf(flags)
    if (store !== undefined) refuseTwo(flags)
    const { of, findings } =
      store === undefined ? await examineServer(flags, context) : await examineStore(store, context.clock)
    const diagnosis: Diagnosis = { of, ok: findings.every(isWell), findings }
    const out = output(self)
    out.result(diagnosis, () => formatDiagnosis(diagnosis, out))
    if (!diagnosis.ok) throw new Ended('finding failed')
  })
}

/** What the server finds, and how far its store's clock is from ours. */
async function examineServer(
  flags: ClientFlags,
  context: CliContext,
): Promise<{ of: string; findings: FindingView[] }> {
  const server = maskAddress(serverOf(flags, context).server)
  const client = clientOf(flags, context)
  const sentAt = context.clock.now()
  try {
    const { now, version, store, findings } = await client.doctor()
    const clock = { sentAt, answeredAt: context.clock.now(), now: parseTime(now) ?? sentAt }
    const reached = `${server} answers; headrace ${version} on ${store}`
    const own = [{ check: 'reachable', ok: true, detail: reached, remedy: null }, clockFinding(clock)]
    return { of: server, findings: [...own, ...findings] }
  } catch (error) {
    // Wrong usage, a missing token and an interruption are no findings.
    if (!(error instanceof HeadraceError) || !isFinding(error)) throw error
    return { of: server, findings: [failureFinding('reachable', error)] }
  }
}

function isFinding({ code }: HeadraceError): boolean {
  return code === 'server_unreachable' || code === 'not_running' || code.startsWith('store_')
}

function formatDiagnosis({ of, findings }: Diagnosis, output: Output): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ check, ok, detail, remedy }) => [
    `${ok ? '✔' : '✖'} ${check.padEnd(width)}  ${escapeControls(detail)}`,
    ...(remedy === null ? [] : [`  ${' '.repeat(width)}  ${output.bold('try')} ${escapeControls(remedy)}`]),
  ])
  const failed = findings.filter(({ ok }) => !ok).length
  const end = failed === 0 ? 'nothing is wrong with' : `${failed} of ${findings.length} checks failed:`
  return [...lines, '', `${end} ${escapeControls(of)}`].join('\n')
}
