import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { LoginTalk, McpAddress } from '../../src/core/mcp.ts'
import { createConnection } from '../../src/mcp/connection.ts'
import { isExempt } from '../../src/mcp/login/challenge.ts'
import { logIn, logOut } from '../../src/mcp/login/log-in.ts'
import { loginFetch } from '../../src/mcp/login/login-fetch.ts'
import { type LockFile, Logins } from '../../src/mcp/login/logins.ts'
import { lockFile } from '../../src/store/engines/sqlite-lock.ts'
import { createDoor } from '../../src/web/door.ts'
import { doorFetch } from '../../src/web/door-fetch.ts'
import { AwaitedLog } from '../e2e/awaited-log.ts'
import { localFolder } from './local-folder.ts'
import type { LoginServer } from './login-server.ts'

/** One that has a tool server, a folder for logins, and a browser. */
export async function loginWorld(
  server: LoginServer,
  own: Partial<McpAddress> = {},
  clock: Clock = systemClock,
  lock: LockFile = lockFile,
) {
  const folder = await localFolder()
  const at: McpAddress = { kind: 'address', url: server.url, headers: {}, ...own }
  const logins = new Logins(folder, clock, lock)
  const authFetch = doorFetch(createDoor({ clock, most: 256_000 }).ask, (asked) => isExempt(at.url, asked))
  const fetch = doorFetch(createDoor({ clock }).open)
  const log = new AwaitedLog()
  const fetchOf = () => loginFetch('files', at, { clock, logins, fetch, authFetch })
  const connect = () => {
    const one = createConnection(
      { name: 'files', at, inside: [], timeoutMs: 20_000 },
      { clock, logger: log, fetchOf, version: '1' },
    )
    onTestFinished(() => one.close())
    return one
  }
  const opened: string[] = []
  /** Logs in as a person with a browser on this machine; or with what `back` does with the address it is sent to. */
  const login = (back: (redirect: string) => unknown = (to) => globalThis.fetch(to), more: Partial<LoginTalk> = {}) =>
    logIn(
      'files',
      at,
      {
        open: (url) => {
          opened.push(url)
          void server.visit(url).then(back)
        },
        wrong: () => undefined,
        ...more,
      },
      { clock, logins, fetch: authFetch },
    )
  const logout = () => logOut('files', at.url, { logins, fetch: authFetch })
  const file = join(folder, 'mcp-logins', 'files.json')
  return { folder, file, logins, login, logout, connect, log, opened, fetchOf, at }
}
