import type { WireRequest } from './wire-request.ts';

/** Which broker keeps a group; answers with the error's number. */
export function findCoordinatorRequest(groupId: string): WireRequest<number> {
  return {
    apiKey: 10,
    apiVersion: 3,
    apiName: 'FindCoordinator',
    write: (to) => to.compactString(groupId).int8(0).tags(),
    read: (from) => {
      from.int32();
      return from.int16();
    },
  };
}
