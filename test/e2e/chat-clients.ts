import OpenAI from 'openai'
import type { Config } from '../../src/config/config.ts'
import type { Scope } from '../../src/core/token.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { AwaitedLog } from './awaited-log.ts'
import { type Household, type HouseholdOptions, startHousehold } from './household.ts'

export interface ChatHouse extends Household {
  readonly log: AwaitedLog
  readonly baseURL: string
  /** Makes a token and returns the official client with it. */
  client(namespace?: string, scopes?: readonly Scope[]): Promise<OpenAI>
  token(namespace?: string, scopes?: readonly Scope[]): Promise<string>
  sessions(): Promise<readonly string[]>
}

const HTTP: NonNullable<Config['http']> = { host: '127.0.0.1', port: 0, hosts: [], origins: [] }

/** A household whose API listens on TCP. Whoever comes with a token of `api:ui` is a member of it. */
export async function startChatHouse(options: HouseholdOptions = {}): Promise<ChatHouse> {
  const log = new AwaitedLog()
  const home = await startHousehold({
    logger: log,
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('ui', 'api:ui')],
      access: { direct: 'allowlist', groups: [] },
    }),
    ...options,
    config: { http: HTTP, ...options.config },
  })
  const { fields } = await log.line('The API is up')
  const baseURL = `http://127.0.0.1:${fields.port}/v1`
  const token: ChatHouse['token'] = async (namespace = 'api:ui', scopes = ['chat']) =>
    (await home.daemon.operator.tokens.create({ namespace, scopes })).token
  return Object.assign(home, {
    ...{ log, baseURL, token },
    async client(namespace?: string, scopes?: readonly Scope[]) {
      return new OpenAI({ apiKey: await token(namespace, scopes), baseURL, maxRetries: 0 })
    },
    async sessions() {
      const { sessions } = await home.daemon.operator.sessions.list({ limit: 50, offset: 0, inactive: true })
      return sessions.map(({ id }) => id)
    },
  })
}

export const user = (content: string) => ({ role: 'user', content }) as const
export const assistant = (content: string) => ({ role: 'assistant', content }) as const
export const system = (content: string) => ({ role: 'system', content }) as const
