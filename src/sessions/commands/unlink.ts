import type { Channels } from '../../core/channel-traits.ts'
import type { ChatCommand, CommandCall } from '../../core/command.ts'
import type { Identity } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import { foldPlatformId } from '../../core/platform-id.ts'
import { askerOf, type Links } from '../people/links.ts'

export interface UnlinkDeps {
  readonly channels: Channels
  readonly links: Pick<Links, 'unlink' | 'hasUnlinked'>
  /** Returns the present identity of a platform id. */
  whoIs(platformId: string): Identity
}

/** `/unlink <channel:id>` undoes a link. Everybody may unlink their own ids, the owner any. */
export function unlinkCommand(deps: UnlinkDeps): ChatCommand {
  return {
    name: 'unlink',
    description: 'Take back a /link',
    args: 'the id, <channel>:<id> as /whoami says it',
    who: 'anyone',
    changesSender: true,
    private: true,
    run: (call) => unlink(call, deps),
  }
}

async function unlink(call: CommandCall, { links, whoIs, channels }: UnlinkDeps): Promise<string> {
  const { person, role } = call.decision.identity
  const given = foldPlatformId(channels, call.args.replace(/`/g, ''))
  if (given === '') return 'Which id? Write it as in `/unlink <channel>:<id>`; `/whoami` says yours.'
  if (await links.hasUnlinked(call.inboxId)) return `\`${given}\` is not linked any more.`
  const own = person !== undefined && whoIs(given).person === person
  // The holder of an id is not disclosed to others.
  if (!own && role !== 'owner') throw new ParleyError('not_found', `You have not linked \`${given}\`.`)
  const { platformId } = askerOf(channels, call)
  if (role === 'owner' && given === platformId) {
    throw new ParleyError('forbidden', 'That is the id you write from. Unlink it from another of yours.')
  }
  const was = await links.unlink(given, platformId, call.inboxId)
  return `\`${given}\` is not ${was} to me any more.`
}
