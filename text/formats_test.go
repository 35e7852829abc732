package text_test

import _ "github.com/collocate/collocate/formats" // tests read and write every format
