/** Who sent a request, as the API server authenticated it. */
export interface Requester {
  readonly username: string;
  readonly groups: readonly string[];
}

/** What a request asks for beside names: the usages and, if given, the lifetime in seconds. */
export interface RequestTerms {
  readonly usages: readonly string[];
  readonly expirationSeconds?: number | null;
}
