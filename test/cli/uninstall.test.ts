import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { dataOfService } from '../../src/cli/commands/uninstall.ts'
import type { LoadedConfig } from '../../src/cli/ports.ts'

const own = { config: { dataDir: '/srv/bot', store: { path: '/srv/bot/chats.db' } } } as unknown as LoadedConfig

const state = tmpdir()

test.each([
  ['its configuration names', own, state, { dataDir: '/srv/bot', path: '/srv/bot/chats.db' }],
  [
    'systemd has, where its configuration cannot be read',
    undefined,
    state,
    { dataDir: state, path: `${state}/parley.db` },
  ],
  [
    'systemd has, where its state folder is gone',
    own,
    '/none/parley',
    { dataDir: '/none/parley', path: '/none/parley/parley.db' },
  ],
])('uninstall: the data of a service of the system lies in the places that %s', (_name, loaded, folder, places) => {
  expect(dataOfService(loaded, folder, '/none')).toEqual({ ...places, cache: '/none' })
})
