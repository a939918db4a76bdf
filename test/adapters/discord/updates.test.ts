import { expect, onTestFinished, test } from 'vitest'
import { openRig, type Rig } from './rig.ts'

async function listening(): Promise<Rig> {
  const rig = await openRig()
  onTestFinished(() => rig.close())
  await rig.listen()
  return rig
}

/** Resolves once everything before it was taken; returns the kinds and texts of the events. */
async function events({ server, ada, channel, sink }: Rig) {
  server.world.say({ from: ada, channel, text: 'the end' })
  await sink.until(() => sink.texts.includes('the end'))
  return sink.events.flatMap((event) => ('text' in event && event.text !== 'the end' ? [[event.kind, event.text]] : []))
}

const embed = (title: string) => ({ type: 'rich', title })

test('the preview of a page, a pin and a flag are no edits, also of a message that was edited', async () => {
  const rig = await listening()
  const { world } = rig.server
  const { channel } = rig
  const message = world.say({ from: rig.ada, channel, text: 'see https://a.example' })
  const preview = [{ type: 'article', url: 'https://a.example', title: 'A' }]
  world.update({ channel, message, fields: { embeds: preview } })
  world.edit({ channel, message, text: 'look at https://a.example' })
  world.update({ channel, message, fields: { embeds: preview } })
  world.update({ channel, message, fields: { flags: 4, embeds: [] } })
  expect(await events(rig)).toEqual([
    ['message', 'see https://a.example'],
    ['edit', 'look at https://a.example'],
  ])
})

test('an app that writes the same once more has edited nothing, and other words are an edit', async () => {
  const rig = await listening()
  const { world } = rig.server
  const { channel } = rig
  const app = world.addUser({ username: 'Status', isBot: true })
  const message = world.say({ from: app, channel, text: '', fields: { embeds: [embed('up')] } })
  world.edit({ channel, message, text: '' })
  world.update({ channel, message, fields: { embeds: [embed('down')] } })
  world.edit({ channel, message, text: '' })
  expect(await events(rig)).toEqual([
    ['message', 'up'],
    ['edit', 'down'],
  ])
})

test('the words of an answer that came without any are the message, once, and a later change of them is an edit', async () => {
  const rig = await listening()
  const { world } = rig.server
  const { channel } = rig
  const app = world.addUser({ username: 'Deployer', isBot: true })
  const message = world.say({ from: app, channel, text: '', fields: { type: 20, flags: 128 } })
  world.update({ channel, message, fields: { flags: 0, content: 'done' } })
  world.update({ channel, message, fields: { embeds: [embed('late')] } })
  world.edit({ channel, message, text: 'done again' })
  expect(await events(rig)).toEqual([
    ['message', 'done'],
    ['edit', 'done again\nlate'],
  ])
  expect(rig.sink.dropped).toContain('message:loading')
})

test('a file that a component shows is fetched by its id', async () => {
  const rig = await listening()
  const { world } = rig.server
  const { channel } = rig
  const app = world.addUser({ username: 'Reports', isBot: true })
  const { id, url, filename } = world.attach({ name: 'report.txt', mime: 'text/plain', bytes: Buffer.from('all well') })
  const file = { type: 13, name: filename, file: { url, attachment_id: id } }
  world.say({ from: app, channel, text: '', fields: { flags: 32_768, components: [file] } })
  await rig.sink.until(() => rig.sink.events.length > 0)
  const [event] = rig.sink.events
  const [attachment] = event !== undefined && 'attachments' in event ? event.attachments : []
  expect(attachment).toMatchObject({ fileName: 'report.txt' })
  const fetched = await rig.adapter.fetchFile({ ref: attachment?.ref ?? '', most: 1_000 }, rig.signal)
  expect(fetched).toMatchObject({ kind: 'fetched' })
})

test('what no message of the platform has is refused by the rehearsal', async () => {
  const rig = await listening()
  const { world } = rig.server
  const say = (fields: object) => () =>
    world.say({ from: rig.ada, channel: rig.channel, text: 'x', fields: { ...fields } })
  expect(say({ embed: {} })).toThrow('has no field embed')
  expect(say({ embeds: [{ heading: 'x' }] })).toThrow('has no field heading')
  expect(say({ embeds: [{ title: 5 }] })).toThrow('embed.title is a string')
  expect(say({ poll: [] })).toThrow('message.poll is an object')
})
