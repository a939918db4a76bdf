import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import type { Dispatch } from '../../../src/core/dispatch.ts'
import type { Titles } from '../../../src/core/message.ts'
import { loadOverridesCache } from '../../../src/sessions/lookups/overrides-cache.ts'
import { openSession } from '../../../src/sessions/turns/open-session.ts'
import { namesOf } from '../../../src/sessions/turns/place-names.ts'
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts'
import type { StoreWriter } from '../../../src/store/store.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { readyDatabase } from '../../fakes/ready-database.ts'
import { dispatchOf, ids, routeOf } from '../../store/sample-rows.ts'
import { removeTempFolders, tempFolder } from '../../store/temp-database.ts'

removeTempFolders()

interface Said {
  readonly titles?: Titles
  readonly topic?: string
  readonly chat?: string
  readonly name?: string
  readonly direct?: boolean
}

function said({ titles, topic, chat = '-1001', name, direct = false }: Said): Dispatch {
  const dispatch = dispatchOf(1, 1)
  const { address, sender: _, ...event } = dispatch.event
  return {
    ...dispatch,
    event: {
      ...event,
      address: {
        ...address,
        chat,
        chatType: direct ? 'direct' : 'group',
        ...(topic === undefined ? {} : { topic }),
      },
      sender: { id: '111', kind: 'user', ...(name === undefined ? {} : { displayName: name }) },
      ...(titles === undefined ? {} : { titles }),
    } as Dispatch['event'],
  }
}

const at = { channel: 'telegram', account: 'default', chat_id: '-1001', topic_id: '42' }
const NONE = { chat_title: undefined, topic_title: undefined, person_name: undefined }

test.each<[string, Said, Readonly<Record<string, string>>, object]>([
  ['a first message', { titles: { chat: 'Club' } }, {}, { ...NONE, chat_title: 'Club' }],
  ['a renamed chat', { titles: { chat: 'Crew' } }, { ...at, chat_title: 'Club' }, { ...NONE, chat_title: 'Crew' }],
  ['no word of it', {}, { ...at, chat_title: 'Club' }, { ...NONE, chat_title: 'Club' }],
  ['another chat', { chat: '-1002' }, { ...at, chat_title: 'Club', topic_title: 'Boats' }, NONE],
  [
    'the name a topic began with, while none is known',
    { topic: '42', titles: { topicBegan: 'Boats' } },
    at,
    { ...NONE, topic_title: 'Boats' },
  ],
  [
    'the name a topic began with, which has another now',
    { topic: '42', titles: { topicBegan: 'Boats' } },
    { ...at, topic_title: 'Rowing' },
    { ...NONE, topic_title: 'Rowing' },
  ],
  [
    'a renamed topic',
    { topic: '42', titles: { topic: 'Rowing' } },
    { ...at, topic_title: 'Boats' },
    { ...NONE, topic_title: 'Rowing' },
  ],
  ['another topic', { topic: '43' }, { ...at, topic_title: 'Boats' }, NONE],
  ['General', {}, { ...at, topic_title: 'Boats' }, NONE],
  ['a person in a direct chat', { direct: true, name: 'Ada' }, {}, { ...NONE, person_name: 'Ada' }],
  [
    'a person whose name was not looked up',
    { direct: true },
    { sender_id: '111', person_name: 'Ada' },
    { ...NONE, person_name: 'Ada' },
  ],
  ['another person', { direct: true }, { sender_id: '222', person_name: 'Bob' }, NONE],
  ['a person in a group', { name: 'Ada' }, {}, NONE],
])('S4: the names of a place after %s', (_, message, known, names) => {
  expect(namesOf(said(message), known)).toEqual(names)
})

test('S4: a session follows the names of its place, and is written only when one changes', async () => {
  const store = await openSqliteStore({ path: readyDatabase(join(tempFolder(), 'parley.db')), clock: systemClock })
  onTestFinished(() => store.close())
  const ports = { ids, channels: CHANNELS, overrides: await loadOverridesCache(store.read.sessions) }
  const reopened: string[] = []
  const enter = (titles: Titles) =>
    store.write((tx) => {
      const reopen: StoreWriter['sessions']['reopen'] = (id, metadata, when) => {
        reopened.push(metadata.chat_title ?? '')
        return tx.sessions.reopen(id, metadata, when)
      }
      const sessions = new Proxy(tx.sessions, {
        get: (target, name) => {
          const value: unknown = name === 'reopen' ? reopen : Reflect.get(target, name)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
      const watched = new Proxy(tx, {
        get: (target, name) => (name === 'sessions' ? sessions : Reflect.get(target, name)),
      })
      const dispatch = said({ titles, topic: '42' })
      return openSession(watched, { route: routeOf(1), identity: { role: 'member' }, dispatch }, ports)
    })
  const { id } = await enter({ chat: 'Club', topicBegan: 'Boats' })
  await enter({ chat: 'Club', topicBegan: 'Boats' })
  expect(reopened).toEqual([])
  await enter({ chat: 'Crew', topic: 'Rowing' })
  await enter({ chat: 'Crew', topicBegan: 'Boats' })
  expect(reopened).toEqual(['Crew'])
  expect((await store.read.sessions.get(id))?.metadata).toMatchObject({ chat_title: 'Crew', topic_title: 'Rowing' })
})
