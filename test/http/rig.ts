import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import type { Scope } from '../../src/core/token.ts'
import { type HttpApiOptions, startHttpApi } from '../../src/http/http-api.ts'
import type { ServerLimits } from '../../src/http/limited-server.ts'
import { createTokens } from '../../src/sessions/people/tokens.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import { movedClock } from '../agent/moved-clock.ts'
import { fixedClock } from '../fakes/fixed-clock.ts'
import { fakeOperator } from '../fakes/operator.ts'
import { tempFolder } from '../store/temp-database.ts'
import { undocumented } from './conforms.ts'

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The API on TCP; every answer of it has to be as the document says. */
export async function apiRig(limits: Partial<ServerLimits> = {}, further: Partial<HttpApiOptions> = {}) {
  const clock = movedClock(1_000_000)
  const store = await openSqliteStore({ path: `${tempFolder()}/store.db`, clock: fixedClock(1_000_000) })
  const tokens = createTokens({ store, clock, randomBytes })
  const operator = fakeOperator()
  const api = await startHttpApi({
    ...{ host: '127.0.0.1', port: 0, hosts: ['parley.example.org'], origins: ['https://app.example.org'] },
    ...{ logger: silentLogger, clock, verify: tokens.verify, apiOf: () => operator, limits },
    ...further,
  })
  onTestFinished(async () => {
    await api.close()
    await store.close()
  })
  async function ask(path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
    const call = request({ host: '127.0.0.1', port: api.port, path, method, headers, agent: false })
    call.end(body)
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    const status = response.statusCode
    expect(undocumented({ method, path, status, body: method === 'HEAD' ? undefined : parsed(text) })).toEqual([])
    return { status, text, headers: response.headers }
  }
  const bearer = async (scopes: readonly Scope[], namespace?: string) => {
    const { token, id } = await tokens.operator.create(
      namespace === undefined ? { owner: true, scopes } : { namespace, scopes },
    )
    return { id, headers: { authorization: `Bearer ${token}` } }
  }
  return { ...api, ask, bearer, clock, tokens, operator }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
