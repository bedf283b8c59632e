// The roster and its moves as tables.
import type { MemberView, MoveView, RebalanceAnswer, ResourceView, RosterView } from '../client/client.ts'
import {
  type Column,
  type Output,
  escapeControls,
  formatDuration,
  formatFields,
  formatTable,
} from './output.ts'

export function formatRoster(roster: RosterView, output: Output): string {
  const { leader, overlap } = roster
  const who = leader === null ? 'none' : `${escapeControls(leader.name)}   term ${leader.term}`
  const fields = formatFields([
    ['leader', who],
    ['lease', formatDuration(roster.leaseMs)],
    [
      'overlap',
      overlap === 0 ? '0' : output.bold(`${overlap}: partitions that two members hold; it must be 0`),
    ],
  ])
  const tables = [formatMembers(roster, output), formatResources(roster, output)]
  return [fields, ...tables.filter((table) => table !== '')].join('\n\n')
}

function formatMembers({ members, leader }: RosterView, output: Output): string {
  if (members.length === 0) return 'nobody has joined'
  const columns: Column<MemberView>[] = [
    { title: 'member', text: ({ name }) => name },
    { title: 'id', text: ({ id }) => id },
    { title: 'version', text: ({ version }) => version },
    { title: 'weight', align: 'right', text: ({ weight }) => String(weight) },
    { title: 'partitions', align: 'right', text: ({ partitions }) => output.count(partitions) },
    { title: 'heartbeat', align: 'right', text: ({ heartbeatAgeMs }) => formatDuration(heartbeatAgeMs) },
    { title: 'state', text: (member) => stateOf(member, leader?.member ?? null) },
    { title: 'address', text: ({ address }) => address ?? '-' },
  ]
  return formatTable(columns, members, output.dim)
}

/** What is remarkable about a member; loops are named where they do not run. */
function stateOf({ id, silent, draining, health }: MemberView, leader: string | null): string {
  const loops = Object.entries(health).filter(([, state]) => state !== 'running')
  const words = [
    ...(silent ? ['silent'] : []),
    ...(draining ? ['drains'] : []),
    ...(id === leader ? ['leads'] : []),
    ...loops.map(([loop, state]) => `${loop} ${state}`),
  ]
  return words.length === 0 ? 'works' : words.join(', ')
}

function formatResources({ resources }: RosterView, output: Output): string {
  if (resources.length === 0) return ''
  const columns: Column<ResourceView>[] = [
    { title: 'resource', text: ({ name }) => name },
    { title: 'partitions', align: 'right', text: ({ partitions }) => String(partitions) },
    { title: 'moves', align: 'right', text: ({ moves }) => output.count(moves) },
    { title: 'moving', align: 'right', text: ({ moving }) => String(moving) },
    { title: 'since', text: ({ since }) => since ?? '-' },
    { title: 'owners', text: (resource) => ownersOf(resource) },
  ]
  return formatTable(columns, resources, output.dim)
}

function ownersOf({ owners, unowned }: ResourceView): string {
  const shares = owners.map(({ name, partitions }) => `${name} ${partitions}`)
  return [...shares, ...(unowned === 0 ? [] : [`nobody ${unowned}`])].join(', ')
}

/** `isDrain`: the moves are asked for as if some members drained. */
export function formatRebalance(
  { preview, moves, underWay }: RebalanceAnswer,
  { isDrain, output }: { isDrain: boolean; output: Output },
): string {
  const rows = [
    ...underWay.map((move) => ({ ...move, state: 'under way' })),
    ...moves.map((move) => ({ ...move, state: preview ? 'would move' : 'moves' })),
  ]
  if (rows.length === 0) {
    return isDrain
      ? 'nothing would move: they have nothing that another member can serve'
      : 'nothing to move: every member has its share'
  }
  const columns: Column<MoveView & { state: string }>[] = [
    { title: 'resource', text: ({ resource }) => resource },
    { title: 'partition', align: 'right', text: ({ partition }) => String(partition) },
    { title: 'from', text: ({ from, fromName }) => fromName ?? from ?? '-' },
    { title: 'to', text: ({ to, toName }) => toName ?? to },
    { title: 'state', text: ({ state }) => state },
  ]
  return formatTable(columns, rows, output.dim)
}
