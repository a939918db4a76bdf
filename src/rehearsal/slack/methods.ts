import { authTest, botInfo, openConnection, openConversation, userInfo } from './account-methods.ts'
import { deleteMessage, postEphemeral, postMessage, updateMessage } from './chat-methods.ts'
import { describeChannel } from './conversations.ts'
import { anyFileInfo, completeUpload, getUploadUrl } from './file-methods.ts'
import { history, replies } from './history-methods.ts'
import { addReaction } from './reaction-methods.ts'
import type { Method } from './web-api.ts'

/** Every rehearsed method. */
const methods: Readonly<Record<string, Method>> = {
  'apps.connections.open': { token: 'app', run: openConnection },
  'auth.test': { token: 'bot', run: authTest },
  'bots.info': { token: 'bot', scope: 'users:read', run: botInfo },
  'chat.delete': { token: 'bot', scope: 'chat:write', run: deleteMessage },
  'chat.postEphemeral': { token: 'bot', scope: 'chat:write', run: postEphemeral },
  'chat.postMessage': { token: 'bot', scope: 'chat:write', run: postMessage },
  'chat.update': { token: 'bot', scope: 'chat:write', run: updateMessage },
  'conversations.history': { token: 'bot', run: history },
  'conversations.info': { token: 'bot', run: describeChannel },
  'conversations.open': { token: 'bot', run: openConversation },
  'conversations.replies': { token: 'bot', run: replies },
  'reactions.add': { token: 'bot', scope: 'reactions:write', run: addReaction },
  'files.completeUploadExternal': { token: 'bot', scope: 'files:write', run: completeUpload },
  'files.getUploadURLExternal': { token: 'bot', scope: 'files:write', run: getUploadUrl },
  'files.info': { token: 'bot', scope: 'files:read', run: anyFileInfo },
  'users.info': { token: 'bot', scope: 'users:read', run: userInfo },
}

export function findMethod(name: string): Method | undefined {
  return Object.hasOwn(methods, name) ? methods[name] : undefined
}
