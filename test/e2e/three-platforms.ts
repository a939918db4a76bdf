import { onTestFinished } from 'vitest'
import { discordAccountSchema } from '../../adapters/discord/config.ts'
import { slackAccountSchema } from '../../adapters/slack/config.ts'
import { type DiscordServer, startDiscordServer } from '../../src/rehearsal/discord/server.ts'
import { type SlackServer, startSlackServer } from '../../src/rehearsal/slack/server.ts'
import type { OtherChannels } from './household.ts'

/** Discord and Slack, to stand beside the Telegram of a household. */
export interface TwoMore extends OtherChannels {
  readonly discord: DiscordServer
  readonly slack: SlackServer
  /** A channel of the guild and one of the workspace, by id; Ada and Bob are in both. */
  readonly rooms: { readonly discord: string; readonly slack: string }
}

/** Ada (discord 222, slack U333) owns the agent, Bob (444, U444) is a guest there, Cy (555, U555) a stranger. */
export async function startTwoMore({ streaming = true } = {}): Promise<TwoMore> {
  const discord = await startDiscordServer()
  const slack = await startSlackServer()
  onTestFinished(async () => {
    await discord.close()
    await slack.close()
  })
  discord.world.addUser({ id: '222', username: 'ada', displayName: 'Ada' })
  discord.world.addUser({ id: '444', username: 'bob', displayName: 'Bob' })
  discord.world.addUser({ id: '555', username: 'cy', displayName: 'Cy' })
  slack.world.addUser({ id: 'U333', name: 'ada', displayName: 'Ada' })
  slack.world.addUser({ id: 'U444', name: 'bob', displayName: 'Bob' })
  slack.world.addUser({ id: 'U555', name: 'cy', displayName: 'Cy' })
  const guild = discord.world.addGuild({ name: 'Workshop' })
  const engines = discord.world.addChannel({ guild, name: 'engines' })
  const workshop = slack.world.addChannel({ name: 'workshop', members: ['U333', 'U444'] })
  return {
    discord,
    slack,
    rooms: { discord: engines.id, slack: workshop.id },
    channels: channelsOf(discord, slack, streaming),
    listening: () =>
      Promise.all([
        discord.ledger.listening({ after: discord.ledger.mark() }),
        slack.ledger.nextSocket({ after: slack.ledger.mark() }),
      ]),
  }
}

function channelsOf(discord: DiscordServer, slack: SlackServer, streaming: boolean): OtherChannels['channels'] {
  const limits = { perSecond: 1000, perChatPerSecond: 1000, perGroupPerMinute: 60_000 }
  const { token, apiRoot } = discord
  const { botToken, appToken } = slack.app
  return {
    discord: { accounts: { default: discordAccountSchema.parse({ token, apiRoot, limits, streaming }) } },
    slack: {
      accounts: {
        default: slackAccountSchema.parse({ botToken, appToken, apiRoot: slack.apiRoot, limits, streaming }),
      },
    },
  }
}
