/** What rendering has to say about a kubelet, in whichever shape. */
export interface KubeletSettings {
  /** Image of a whole document; a patch has none. */
  readonly image: string | undefined;
  /** Whether the kubelet asks for its serving certificate; undefined says nothing about it. */
  readonly serverTLSBootstrap: boolean | undefined;
}
