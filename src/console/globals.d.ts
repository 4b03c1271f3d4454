/** Version of the gateway that the console was built with. */
declare const GATEWAY_VERSION: string
