import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { CliPorts } from '../../src/cli/ports.ts'
import { ParleyError } from '../../src/core/errors.ts'
import type { NewNotification, NotificationReport } from '../../src/core/operate-outbox.ts'
import { fakeOperator, sampleSession } from '../fakes/operator.ts'
import { fakeOffline, makeStore, type Rig, rig, serveDaemon } from './rig.ts'

const FAMILY = 'telegram:group:-1002'
const REPORT = { status: 'delivered', to: FAMILY, traceId: 'tr_2', messageIds: ['7'] } as const

/** A daemon that answers with these outcomes, one after the other. */
async function withDaemon(outcomes: readonly Partial<NotificationReport>[] = [{}], ports: Partial<CliPorts> = {}) {
  const asked: NewNotification[] = []
  const parley = await rig(ports)
  const say = async (wanted: NewNotification): Promise<NotificationReport> => {
    asked.push(wanted)
    return { ...REPORT, ...outcomes[asked.length - 1] }
  }
  await serveDaemon(parley, fakeOperator({ notifications: { send: say } }))
  return { ...parley, asked }
}

test.each([
  [{ status: 'delivered' }, 0, `Said in ${FAMILY} (tr_2).`],
  [{ status: 'queued', reason: 'the channel is down' }, 75, `Queued for ${FAMILY}; it leaves by itself`],
  [{ status: 'refused', reason: 'muted until 9' }, 1, `Not said in ${FAMILY}: muted until 9`],
  [{ status: 'lost' }, 1, 'Nobody can know whether it arrived'],
] as const)('T43: notify ends with the outcome %o as %i', async (outcome, code, words) => {
  const parley = await withDaemon([outcome])
  expect(await parley.run('notify', FAMILY, 'Backup done')).toBe(code)
  expect(parley.out()).toContain(words)
  expect(parley.asked).toMatchObject([{ to: FAMILY, text: 'Backup done', waitSeconds: 30, id: expect.any(String) }])
})

test('notify reads its text from standard input, within bounds, and takes files', async () => {
  const parley = await withDaemon([], { stdin: Readable.from([Buffer.from('12 files\n'), Buffer.from('copied\n')]) })
  await writeFile(join(parley.loaded.config.dataDir, 'a.log'), 'all is well')
  const argv = ['notify', FAMILY, '--file', 'a.log', '--silent', '--id', 'nightly', '--wait', '0', '-']
  expect(await parley.run(...argv)).toBe(0)
  expect(parley.asked).toEqual([
    {
      ...{ to: FAMILY, text: '12 files\ncopied', silent: true, id: 'nightly', waitSeconds: 0 },
      files: [{ name: 'a.log', data: Buffer.from('all is well').toString('base64') }],
    },
  ])
  const flooded = await withDaemon([], { stdin: Readable.from([Buffer.alloc(200_000, 'x')]) })
  expect(await flooded.run('notify', FAMILY, '-')).toBe(2)
  expect(flooded.asked).toEqual([])
})

test('send reads its text from standard input, too, within the same bounds', async () => {
  const piped = async (...pieces: readonly Buffer[]) => {
    const parley = await rig({ stdin: Readable.from(pieces) })
    const operator = fakeOperator()
    await serveDaemon(parley, operator)
    return { ...parley, code: await parley.run('send', sampleSession.key, '-'), asked: operator.asked }
  }
  const said = await piped(Buffer.from('12 files\n\n'), Buffer.from('copied\n'))
  expect(said).toMatchObject({ code: 0, asked: [{ post: sampleSession.key, text: '12 files\n\ncopied' }] })
  for (const [bytes, words] of [
    [Buffer.alloc(200_000, 'x'), 'Standard input has more than 128 KB'],
    [Buffer.from(' \n'), 'There is nothing to say'],
  ] as const) {
    const refused = await piped(bytes)
    expect(refused).toMatchObject({ code: 2, asked: [] })
    expect(refused.err()).toContain(words)
  }
})

test.each(['send', 'notify'])('%s without a text, or with one like an option, names the way', async (verb) => {
  const missing = await withDaemon()
  expect(await missing.run(verb, FAMILY)).toBe(2)
  expect(missing.err()).toContain('"-" reads it from standard input')
  for (const text of ['-5 degrees tonight', "--it's cold", '--verbose failed', '-5°']) {
    const parley = await withDaemon()
    expect(await parley.run(verb, FAMILY, text)).toBe(2)
    expect(parley.err()).toContain('a text that begins with "-" goes behind --')
  }
  const slip = await withDaemon()
  expect(await slip.run(verb, FAMILY, 'x', '--slient')).toBe(2)
  expect(slip.err()).toContain("unknown option '--slient'")
})

test('wrong usage is 2: no text, no such file; a place that is not there is 1', async () => {
  const none = new ParleyError('not_found', '"nowhere" is no place')
  const parley = await rig()
  await serveDaemon(parley, fakeOperator({ notifications: { send: () => Promise.reject(none) } }))
  expect(await parley.run('notify', FAMILY)).toBe(2)
  expect(parley.err()).toContain(`missing required argument 'text'; "-" reads it from standard input`)
  expect(await parley.run('notify', FAMILY, 'x', '--file', 'none.log')).toBe(2)
  expect(parley.err()).toContain('none.log cannot be read')
  expect(await parley.run('notify', 'nowhere', 'x')).toBe(1)
})

test('without a daemon it is queued in the store, and ends with 75', async () => {
  const offline = fakeOffline({
    notifications: { send: async () => ({ ...REPORT, status: 'queued', messageIds: [] }) },
  })
  const parley = await rig({ openOffline: async () => offline })
  await makeStore(parley)
  expect(await parley.run('notify', FAMILY, 'Backup done')).toBe(75)
  expect(parley.err()).toBe('No daemon is running: it stands in the queue of the store.\n')
  expect(offline.closed).toBe(1)
})

test('T43: a store that is just being opened is asked again, by the same name', async () => {
  const ids: unknown[] = []
  const say = async ({ id }: NewNotification): Promise<NotificationReport> => {
    ids.push(id)
    if (ids.length === 1) throw new ParleyError('unavailable', 'The daemon has just stopped.')
    return { ...REPORT, status: 'queued' }
  }
  let opened = 0
  const parley: Rig = await rig({
    openOffline: async () => {
      if (++opened === 1) throw new ParleyError('store_locked', 'In use.')
      return fakeOffline({ notifications: { send: say } })
    },
  })
  await makeStore(parley)
  expect(await parley.run('notify', FAMILY, 'Backup done')).toBe(75)
  expect([opened, new Set(ids).size]).toEqual([3, 1])
})

test.each([
  ['notify', '"parley send" asks the agent'],
  ['send', '"parley notify" says a text in a chat as it is'],
])('the help of %s says what the other does', async (name, words) => {
  const parley = await rig()
  await parley.run(name, '--help')
  expect(parley.out()).toContain(words)
})
