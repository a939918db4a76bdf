import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { onTestFinished } from 'vitest'
import type { Caller } from '../../src/core/caller.ts'
import type { SessionId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { NewToken } from '../../src/core/operate-tokens.ts'
import { createCommitWatch } from '../../src/daemon/commit-watch.ts'
import { startHttpApi } from '../../src/http/http-api.ts'
import type { ServerLimits } from '../../src/http/limited-server.ts'
import { createTokens } from '../../src/sessions/people/tokens.ts'
import { createLiveHub } from '../../src/sessions/service/live-events.ts'
import type { EventToAppend } from '../../src/store/event-port.ts'
import { movedClock } from '../agent/moved-clock.ts'
import { fakeOperator } from '../fakes/operator.ts'
import { serviceRig } from '../sessions/service-rig.ts'
import { type OpenStream, streamOf } from './open-stream.ts'

export type StreamRig = Awaited<ReturnType<typeof streamRig>>

/** The API on TCP before a real store, with live streams. */
export async function streamRig(limits: Partial<ServerLimits> = {}) {
  const commits = createCommitWatch()
  const rig = await serviceRig({ watch: commits.watch })
  const { store, service } = rig
  const clock = movedClock()
  const hub = createLiveHub({ read: store.read, clock, logger: silentLogger, sessions: service })
  commits.on(hub.watch)
  const tokens = createTokens({ store, clock, randomBytes })
  const apiOf = (caller: Caller) => {
    const operator = fakeOperator({ live: hub.of(caller) })
    const history: typeof operator.sessions.history = (name, page) => service.history(caller, name, page)
    return { ...operator, sessions: { ...operator.sessions, history } }
  }
  const api = await startHttpApi({
    ...{ host: '127.0.0.1', port: 0, hosts: [], origins: [], logger: silentLogger, clock, limits },
    ...{ verify: tokens.verify, apiOf },
  })
  onTestFinished(async () => {
    hub.stop()
    await api.close()
  })
  const owner = await tokens.operator.create({ owner: true })
  const base = `http://127.0.0.1:${api.port}`

  async function open(path: string, { token = owner.token, headers = {} }: Asking = {}): Promise<OpenStream> {
    const call = request(new URL(path, base), {
      headers: { authorization: `Bearer ${token}`, ...headers },
      agent: false,
    })
    call.end()
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    onTestFinished(() => void response.destroy())
    return streamOf(response)
  }

  return {
    ...rig,
    ...{ hub, api, base, clock, tokens, open },
    bearer: { authorization: `Bearer ${owner.token}` },
    ownerId: owner.id,
    append: (id: SessionId, ...drafts: readonly EventToAppend[]) =>
      store.write((tx) => tx.events.append(id, clock.now(), drafts)),
    newToken: async (asked: NewToken) => tokens.operator.create(asked),
    history: async (id: SessionId) => (await service.history({ kind: 'operator' }, id, { limit: 200 })).events,
  }
}

interface Asking {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}
