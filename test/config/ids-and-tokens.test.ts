import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { load, refusal, TELEGRAM, temporaryFolder } from './loading.ts'

describe('an id that nobody on its platform can have', () => {
  test.each([
    'telegram:0x1F',
    'telegram:1e5',
    'telegram:@ada',
    'telegram:012',
    'discord:12a',
    'discord:-5',
    'slack:ada',
  ])('%s is refused for a person, a bot and in rules', async (id) => {
    const rules = [
      `people: { ada: { ids: ["telegram:7", "${id}"] } }`,
      `routing: { access: { groups: [{ bots: allow, botIds: ["${id}"] }] } }`,
      `routing: { dispatch: [{ match: { sender: "${id}" } }] }`,
      `session: { sendPolicy: { rules: [{ match: { person: "${id}" }, action: deny }] } }`,
    ]
    for (const rule of rules) {
      const told = await refusal(TELEGRAM + rule)
      expect(told).toContain(`${id} can be nobody's id: on `)
      expect(told).toMatch(/an id (?:is a number|begins with U, W or B); write the id that \/whoami says$/)
    }
  })

  const SLACK = `slack: { accounts: { default: { botToken: "\${env:B}", appToken: "\${env:A}" } } }`
  const BOTH = TELEGRAM.replace(/ }\n$/, `, ${SLACK} }\n`)
  const TOKENS_OF_SLACK = { B: 'xoxb-1234-abcd', A: 'xapp-1-abcd' }

  test.each(['ada_l', '@ada_l', '0x1F', '007'])(
    'a bare %s is refused for a person where no configured platform has such ids',
    async (id) => {
      const told = "can be nobody's id: on Telegram an id is a number; write <channel>:<id> as /whoami says it"
      const person = `people: { ada: { role: owner, ids: ["${id}"] } }\n`
      expect(await refusal(TELEGRAM + person)).toBe(`parley.yaml:2: people.ada.ids[0]: ${id} ${told}`)
      expect(await refusal(BOTH + person, TOKENS_OF_SLACK)).toContain(
        'on Telegram an id is a number, on Slack an id begins with U, W or B; write <channel>:<id>',
      )
    },
  )

  test('a bare id that is one on one of the platforms is taken', async () => {
    const { config } = await load(`${BOTH}people: { ada: { ids: [U73K, 71] } }\n`, TOKENS_OF_SLACK)
    expect(config.routing.people).toMatchObject([{ ids: ['U73K', '71'] }])
  })

  test.each(['telegram:7', 'telegram: -1005', 'Discord:73', 'slack:T7Q/U73K', 'slack:b73k', 'api:what-ever'])(
    '%s is none',
    async (id) => {
      expect((await load(`${TELEGRAM}people: { ada: { ids: ["${id}"] } }`)).config.routing.people).toHaveLength(1)
    },
  )
})

describe('a token', () => {
  const TOKENS = {
    telegram: '7000001:AAHabcdefghijklmnopqrstuvwxyz012345',
    discord: 'MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs',
    slack: 'xoxb-1234-abcd',
  }
  const warningsFor = async (channel: string, token: string): Promise<readonly string[]> => {
    const { config } = await load(`channels: { ${channel}: { accounts: { default: { token: "\${env:A}" } } } }`, {
      A: token,
    })
    return config.warnings.filter((warning) => /looks? like/.test(warning))
  }

  test.each([
    ['telegram', 'discord'],
    ['telegram', 'slack'],
    ['discord', 'telegram'],
    ['discord', 'slack'],
  ] as const)('of %s that looks like one of %s is warned of, and not quoted', async (channel, other) => {
    const [warning, ...more] = await warningsFor(channel, TOKENS[other])
    expect(more).toEqual([])
    expect(warning).toContain(`channels.${channel}.accounts.default.token: this looks like a token of ${other}`)
    expect(warning).not.toContain(TOKENS[other])
  })

  test.each(['hello', '123456789'])(
    'of Telegram that was not copied whole (%s) is warned of, and not quoted',
    async (token) => {
      const [warning, ...more] = await warningsFor('telegram', token)
      expect(more).toEqual([])
      expect(warning).toBe(
        'channels.telegram.accounts.default.token: this does not look like a token of Telegram; copy it again, whole',
      )
    },
  )

  test.each(['telegram', 'discord'] as const)('of %s where it belongs is not', async (channel) => {
    expect(await warningsFor(channel, TOKENS[channel])).toEqual([])
  })

  const BARE = TOKENS.telegram
  test.each([
    `"${BARE}"`,
    `'${BARE}'`,
    `“${BARE}”`,
    `<${BARE}>`,
    `bot${BARE}`,
    `"bot${BARE}"\r\n`,
    `\ufeff${BARE}\u200b`,
  ])('is read without what was copied along with it: %j', async (token) => {
    const { config, secrets } = await load(TELEGRAM, { TOKEN: token })
    expect(config.channels.telegram?.accounts.default).toMatchObject({ token: BARE })
    expect(secrets).toContain(BARE)
    expect(config.warnings.filter((warning) => /token/.test(warning))).toEqual([])
  })

  test.each([
    ['UTF-16 as Windows writes it', Buffer.from(`\ufeff${BARE}\r\n`, 'utf16le')],
    ['UTF-16 without its mark', Buffer.from(BARE, 'utf16le')],
    ['UTF-8 with its mark', Buffer.from(`\ufeff${BARE}\r\n`)],
  ])('is read from a file in %s', async (_, bytes) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'token'), bytes, { mode: 0o600 })
    const { config } = await load(TELEGRAM.replace('env:TOKEN', `file:${join(folder, 'token')}`))
    expect(config.channels.telegram?.accounts.default).toMatchObject({ token: BARE })
  })
})
