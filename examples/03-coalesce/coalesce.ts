// A thousand edits of ten documents become ten ticks: in mode `one` a key has one entry, however often it is put.
import { headrace } from 'headrace'

const race = await headrace({ store: 'memory:' })
const reindex = race.ticks<{ edit: number }>('reindex', { mode: 'one', partitions: 1 })
await race.start()

const arrived = new Promise<void>((resolve) => {
  let moved = 0
  race.telemetry.on('ticks.moved', ({ latenessMs }) => {
    moved += latenessMs.length
    if (moved === 10) resolve()
  })
})

const edits = Array.from({ length: 1000 }, (_, edit) => ({ document: `doc-${edit % 10}`, edit }))
const answers = await Promise.all(
  edits.map(({ document, edit }) => reindex.pool.put(document, { in: '1s', payload: { edit } })),
)
const created = answers.filter(({ result }) => result === 'created').length
console.log(`${answers.length} puts: ${created} created, ${answers.length - created} merged`)

const entry = await reindex.pool.get('doc-7')
console.log(`doc-7 waits with a tally of ${entry?.tally}`)

await arrived
const { events } = await reindex.topic.read(0)
const seventh = events.find(({ key }) => key === 'doc-7')
console.log(`${events.length} events; the one of doc-7 carries the latest payload:`, seventh?.value.payload)
await race.stop()
